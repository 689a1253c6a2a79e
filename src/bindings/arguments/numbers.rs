//! Integers that Python gives. An error names the parameter, the value and what is allowed, also for
//! values of other types and integers of any size.

use std::fmt;
use std::ops::RangeInclusive;

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::bindings::errors::StarmineError;
use crate::rules::Seat;

/// A Python integer. One that does not fit 64 bits is replaced by the nearest that does, which is out
/// of every range here, and keeps its text for error messages.
#[derive(Clone)]
pub struct Integer {
    pub value: i64,
    beyond: Option<String>,
}

impl Integer {
    pub const fn new(value: i64) -> Integer {
        Integer { value, beyond: None }
    }

    /// Whether the integer does not fit 64 bits.
    pub const fn is_beyond(&self) -> bool {
        self.beyond.is_some()
    }

    /// An error's message with the number as Python wrote it.
    pub fn explain(&self, error: impl fmt::Display) -> String {
        match &self.beyond {
            Some(text) => error.to_string().replace(&self.value.to_string(), text),
            None => error.to_string(),
        }
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.explain(self.value))
    }
}

impl<'py> FromPyObject<'_, 'py> for Integer {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Integer> {
        if object.is_instance_of::<PyBool>() {
            return Err(PyTypeError::new_err(format!(
                "{} is a bool: expected an integer",
                &*object
            )));
        }
        match object.extract::<i64>() {
            Ok(value) => Ok(Integer::new(value)),
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
                let negative = object.lt(0)?;
                let value = if negative { i64::MIN } else { i64::MAX };
                Ok(Integer { value, beyond: Some(object.str()?.to_string()) })
            }
            Err(error) => Err(error),
        }
    }
}

/// The error for a value of the wrong type.
pub fn wrong_type(name: &str, found: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let kind = found.get_type();
    let value = found.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
    PyTypeError::new_err(format!("{name}={value} is a {kind}: expected {expected}"))
}

/// Refuses True and False, also numpy's, which would pass for the numbers 1.0 and 0.0.
pub fn refuse_bool(name: &str, given: &Bound<'_, PyAny>) -> PyResult<()> {
    let kind = given.get_type().name()?;
    let is_bool = ["bool", "bool_"].iter().any(|name| kind == *name);
    if is_bool { Err(wrong_type(name, given, "a number")) } else { Ok(()) }
}

/// Reads an integer; for values that are not parameters of their own, whose errors lack the name.
pub fn integer(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Integer> {
    given.extract().map_err(|_| wrong_type(name, given, "an integer"))
}

/// Checks a count or an index.
pub fn count(name: &str, number: &Integer, allowed: RangeInclusive<usize>) -> PyResult<usize> {
    match usize::try_from(number.value) {
        Ok(count) if allowed.contains(&count) && number.beyond.is_none() => Ok(count),
        _ => Err(StarmineError::new_err(format!(
            "{name}={number} is not allowed: expected {} to {}",
            allowed.start(),
            allowed.end()
        ))),
    }
}

/// Checks that a seat exists in a game of this number of players.
pub fn seat(name: &str, number: &Integer, players: u8) -> PyResult<Seat> {
    let index = usize::try_from(number.value).ok().filter(|&seat| seat < players.into());
    match index.and_then(Seat::new) {
        Some(seat) => Ok(seat),
        None => Err(StarmineError::new_err(format!(
            "{name}={number} is not allowed: expected 0 to {}",
            players - 1
        ))),
    }
}

/// Reads a seed: 0 to 2**64 - 1.
pub fn seed(given: &Bound<'_, PyAny>) -> PyResult<u64> {
    let number = integer("seed", given)?;
    given.extract::<u64>().map_err(|_| {
        StarmineError::new_err(format!("seed={number} is not allowed: expected 0 to 2**64 - 1"))
    })
}

/// A seed from the operating system's entropy.
pub fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}
