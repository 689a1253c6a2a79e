//! Vectors whose length a caller chooses.

use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PySequence, PyString};

use crate::nn::try_with_capacity;

/// A vector with room for so many elements of a parameter or a result.
///
/// # Errors
/// `MemoryError` if there is no memory for them.
pub fn room<T>(name: &str, length: usize) -> PyResult<Vec<T>> {
    try_with_capacity(length)
        .map_err(|error| PyMemoryError::new_err(format!("{name} of {length} elements: {error}")))
}

/// So many elements of an iterator, which has no more.
///
/// # Errors
/// `MemoryError` if there is no memory for them.
pub fn collect<T>(
    name: &str,
    length: usize,
    elements: impl Iterator<Item = T>,
) -> PyResult<Vec<T>> {
    let mut collected = room(name, length)?;
    collected.extend(elements.take(length));
    Ok(collected)
}

/// The elements of a sequence that is no text, and of a longer one so many and one more. Its length
/// is not asked for, since it may be any number.
///
/// # Errors
/// `TypeError` if it is no sequence, or what iterating over it raises.
pub fn items<'py>(given: &Bound<'py, PyAny>, most: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if given.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("a text: expected a sequence"));
    }
    given.cast::<PySequence>()?.try_iter()?.take(most + 1).collect()
}
