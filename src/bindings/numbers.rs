//! Python numbers: integers of any size are refused by name, never with a bare overflow.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

use super::errors::StarmineError;

/// A Python integer that fits 64 bits with a sign.
#[derive(Clone, Copy)]
pub(super) struct Integer(pub i64);

impl<'py> FromPyObject<'_, 'py> for Integer {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Integer> {
        match object.extract::<i64>() {
            Ok(number) => Ok(Integer(number)),
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
                Err(StarmineError::new_err(format!(
                    "{} is not allowed: expected an integer of at most 64 bits",
                    &*object
                )))
            }
            Err(error) => Err(error),
        }
    }
}

/// A number that counts something.
pub(super) fn natural(name: &str, number: Integer) -> PyResult<usize> {
    usize::try_from(number.0).map_err(|_| {
        StarmineError::new_err(format!("{name}={} is not allowed: expected at least 0", number.0))
    })
}

/// A seat of a table with this many.
pub(super) fn seat(name: &str, number: Integer, players: u8) -> PyResult<usize> {
    match usize::try_from(number.0) {
        Ok(seat) if seat < players.into() => Ok(seat),
        _ => Err(StarmineError::new_err(format!(
            "{name}={} is not allowed: expected 0 to {}",
            number.0,
            players - 1
        ))),
    }
}

/// A seed: 0 to 2**64 - 1.
pub(super) fn seed(object: &Bound<'_, PyAny>) -> PyResult<u64> {
    object.extract::<u64>().map_err(|error| {
        if object.extract::<Integer>().is_ok()
            || error.is_instance_of::<PyOverflowError>(object.py())
        {
            StarmineError::new_err(format!("seed={object} is not allowed: expected 0 to 2**64 - 1"))
        } else {
            error
        }
    })
}

/// A seed from the operating system's entropy.
pub(super) fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}
