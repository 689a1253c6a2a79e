//! Policy files: those that come with the package, and those of users.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::bindings::arguments::text::Text;
use crate::nn::{POLICIES, policy_bytes, shipped_policy};
use crate::players::PlayerSpecError;

/// policies() -> list[str]
///
/// The names of the trained policies that come with the package. They are accepted wherever a bot's
/// name is. "policy: ippo-2p; sampled" samples its moves instead of taking the most likely one.
/// "policy: path" and "policy: path; sampled" play a policy file.
#[pyfunction]
pub fn policies() -> Vec<&'static str> {
    POLICIES.iter().map(|policy| policy.name).collect()
}

/// _policy_bytes(name) -> bytes
///
/// The bytes of the policy file of this name in the package, or at this path.
///
/// Raises:
///     UnknownNameError: there is no such file.
///     SerializationError: the file cannot be read as a policy.
#[pyfunction]
pub fn _policy_bytes<'py>(py: Python<'py>, name: Text) -> PyResult<Bound<'py, PyBytes>> {
    match shipped_policy(&name) {
        Ok(shipped) => Ok(PyBytes::new(py, shipped.bytes)),
        Err(_) => {
            let bytes = py.detach(|| policy_bytes(name.as_ref())).map_err(PlayerSpecError::from)?;
            Ok(PyBytes::new(py, &bytes))
        }
    }
}
