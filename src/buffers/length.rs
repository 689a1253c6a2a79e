//! The lengths of arrays that a caller gives or asks for.

use std::collections::TryReserveError;

use thiserror::Error;

/// An array that does not have the length it should have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[error("{name} has {found} elements: expected {expected}")]
pub struct BufferError {
    /// The name of the array.
    pub name: &'static str,
    /// The number of elements that the array has, or the dtype of its elements.
    pub found: String,
    /// The number or the dtype that it should have.
    pub expected: String,
}

/// Checks the length of an array.
pub fn check_length(name: &'static str, found: usize, expected: usize) -> Result<(), BufferError> {
    if found == expected {
        return Ok(());
    }
    Err(BufferError { name, found: found.to_string(), expected: expected.to_string() })
}

/// An empty vector with memory for this number of elements.
pub fn try_with_capacity<T>(length: usize) -> Result<Vec<T>, TryReserveError> {
    let mut elements = Vec::new();
    elements.try_reserve_exact(length)?;
    Ok(elements)
}
