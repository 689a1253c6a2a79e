//! Lists of arguments.

use std::ops::Deref;

use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PySequence, PyString};

/// The most items of a list.
const ITEMS: usize = 1 << 20;

/// The items of a sequence. A `Vec` as an argument reserves memory for the length that the sequence claims, which may
/// be any number; this does not ask for it.
pub struct Listed<T>(Vec<T>);

impl<T> Deref for Listed<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> IntoIterator for Listed<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'py, T: FromPyObjectOwned<'py>> FromPyObject<'_, 'py> for Listed<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Listed<T>> {
        if object.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("a text: expected a sequence"));
        }
        let mut listed = Vec::new();
        for item in object.cast::<PySequence>()?.try_iter()? {
            if listed.len() == ITEMS {
                return Err(PyTypeError::new_err(format!("expected at most {ITEMS} items")));
            }
            listed.push(item?.extract().map_err(Into::into)?);
        }
        Ok(Listed(listed))
    }
}
