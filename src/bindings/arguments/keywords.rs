//! Unknown keyword arguments, refused with the nearest known name.

use pyo3::PyTypeInfo;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTypeMethods};

use super::text::Text;
use crate::rules;

/// What to use instead of HLE's parameter, which is not a rule.
const OBSERVATION_TYPE: &str = "expected the environment's encoder='canonical-minimal', 'canonical' or \
                                'canonical-seer' for HLE's 0, 1 and 2";

/// Refuses keyword arguments that the class `T` does not have.
pub fn refuse<T: PyTypeInfo>(py: Python<'_>, unknown: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let Some(name) = unknown.and_then(|unknown| unknown.keys().iter().next()) else {
        return Ok(());
    };
    let class = T::type_object(py);
    let signature: String = class.getattr("__text_signature__")?.extract()?;
    let known = signature.trim_matches(['(', ')']).split(", ").filter(|known| *known != "*");
    let known = known.map(|known| known.split_once('=').map_or(known, |(name, _)| name));
    let name = name.extract::<Text>()?;
    let hint = match &*name {
        "observation_type" => OBSERVATION_TYPE.to_owned(),
        _ => rules::UnknownNameError::new("", &name, known).hint(),
    };
    let class = class.name()?;
    Err(PyTypeError::new_err(format!(
        "{class}() got an unexpected keyword argument '{}': {hint}",
        &*name
    )))
}
