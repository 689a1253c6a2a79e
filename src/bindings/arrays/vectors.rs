//! Vectors whose length a caller chooses.

use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PySequence, PyString};

/// Reserves memory for more elements of a parameter or a result.
///
/// # Errors
/// `MemoryError` if there is no memory for them.
pub fn reserve<T>(name: &str, vector: &mut Vec<T>, length: usize) -> PyResult<()> {
    vector
        .try_reserve_exact(length)
        .map_err(|error| PyMemoryError::new_err(format!("{name} of {length} elements: {error}")))
}

/// An empty vector with memory for the elements of a parameter or a result.
///
/// # Errors
/// As [`reserve`].
pub fn with_capacity<T>(name: &str, length: usize) -> PyResult<Vec<T>> {
    let mut vector = Vec::new();
    reserve(name, &mut vector, length)?;
    Ok(vector)
}

/// The first `length` elements of an iterator.
///
/// # Errors
/// `MemoryError` if there is no memory for them.
pub fn collect<T>(
    name: &str,
    length: usize,
    elements: impl Iterator<Item = T>,
) -> PyResult<Vec<T>> {
    let mut collected = with_capacity(name, length)?;
    collected.extend(elements.take(length));
    Ok(collected)
}

/// Returns at most `limit + 1` elements, so that the caller can tell when the sequence is too long. The
/// length is not asked for, since it may be any number.
///
/// # Errors
/// `TypeError` if it is not a sequence or is a `str`, or what iterating over it raises.
pub fn items<'py>(given: &Bound<'py, PyAny>, limit: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if given.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("a text: expected a sequence"));
    }
    given.cast::<PySequence>()?.try_iter()?.take(limit + 1).collect()
}
