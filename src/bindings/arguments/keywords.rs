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

/// _unknown_keyword(owner, name, known) -> TypeError
///
/// The error for a keyword argument that a function or class does not have, with the most similar one that it has.
#[pyfunction]
pub fn _unknown_keyword(owner: Text, name: Text, known: Vec<Text>) -> PyErr {
    unknown_keyword(&owner, &name, known)
}

fn unknown_keyword(
    owner: &str,
    name: &str,
    known: impl IntoIterator<Item = impl Into<String>>,
) -> PyErr {
    let error = rules::UnknownNameError::new("", name, known);
    let hint = match name {
        "observation_type" => OBSERVATION_TYPE.to_owned(),
        _ => error.hint(),
    };
    PyTypeError::new_err(format!("{owner}() got an unexpected keyword argument '{name}': {hint}"))
}

/// Refuses keyword arguments that the class `T` does not have.
pub fn refuse<T: PyTypeInfo>(py: Python<'_>, unknown: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let Some(name) = unknown.and_then(|unknown| unknown.keys().iter().next()) else {
        return Ok(());
    };
    let class = T::type_object(py);
    let signature: String = class.getattr("__text_signature__")?.extract()?;
    let known = signature.trim_matches(['(', ')']).split(", ").filter(|known| *known != "*");
    let known = known.map(|known| known.split_once('=').map_or(known, |(name, _)| name));
    let (owner, name) = (class.name()?, name.extract::<Text>()?);
    Err(unknown_keyword(owner.to_str()?, &name, known))
}
