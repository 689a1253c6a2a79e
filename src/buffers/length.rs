//! What is wrong with arrays that a caller gives.

use std::collections::TryReserveError;

use thiserror::Error;

/// An array of the wrong length or the wrong type.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BufferError {
    /// An array of the wrong length.
    #[error("{name} has {found} elements: expected {expected}")]
    Length {
        /// The name of the array.
        name: &'static str,
        /// The number of its elements.
        found: usize,
        /// The number that it should have.
        expected: usize,
    },
    /// Elements of the wrong type.
    #[error("{name} has {found} elements: expected {expected}")]
    Dtype {
        /// The name of the array.
        name: &'static str,
        /// The type of its elements.
        found: &'static str,
        /// The type that they should have.
        expected: &'static str,
    },
}

/// Checks the length of an array.
pub fn check_length(name: &'static str, found: usize, expected: usize) -> Result<(), BufferError> {
    if found == expected { Ok(()) } else { Err(BufferError::Length { name, found, expected }) }
}

/// An empty vector with memory for this number of elements.
pub fn try_with_capacity<T>(length: usize) -> Result<Vec<T>, TryReserveError> {
    let mut elements = Vec::new();
    elements.try_reserve_exact(length)?;
    Ok(elements)
}
