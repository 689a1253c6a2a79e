//! What is wrong with arrays that a caller gives, and with the instruction set that shall fill them.

use std::collections::TryReserveError;

use thiserror::Error;

/// The environment variable that forces an instruction set, for tests and measurements.
pub const SIMD_VARIABLE: &str = "STARMINE_SIMD";

/// An array of the wrong length or the wrong type, or an instruction set that cannot fill it.
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
    /// An instruction set that does not exist, or that this processor does not have.
    #[error(
        "{SIMD_VARIABLE}={name:?} is not possible on this processor: expected one of {available}"
    )]
    InstructionSet {
        /// The given name.
        name: String,
        /// The sets of this processor.
        available: String,
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
