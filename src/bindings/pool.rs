//! Arrays that were handed out and are used again, since fresh memory costs about as much as a step.

use std::sync::Mutex;

use numpy::{Element, PyUntypedArray};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use super::arrays::data_address;

/// A new array. numpy's own function, since the crate's panics when there is no memory.
pub(super) fn zeros<'py, T: Element>(
    py: Python<'py>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    static ZEROS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let function = ZEROS.import(py, "numpy", "zeros")?;
    function.call1((PyTuple::new(py, shape)?, T::get_dtype(py)))
}

/// Arrays of one kind that were handed out: one is used again once nobody else holds it.
#[derive(Default)]
pub(super) struct ArrayPool(Mutex<Vec<Pooled>>);

/// An array that was handed out.
pub(super) struct Pooled {
    array: Py<PyAny>,
    /// Where its memory was: whoever held the array may have let it stand for other memory.
    address: usize,
}

impl Pooled {
    pub fn new(array: Bound<'_, PyAny>) -> Pooled {
        Pooled { address: address(&array), array: array.unbind() }
    }

    /// Who holds the array, the pool included. Views and tensors of it hold it too.
    pub fn holders(&self) -> isize {
        // SAFETY: the pointer is that of a live object, and the interpreter is held wherever a pool
        // is asked for an array.
        unsafe { pyo3::ffi::Py_REFCNT(self.array.as_ptr()) }
    }

    /// The array, unless it stands for other memory now.
    pub fn get<'py>(&self, py: Python<'py>) -> Option<&Bound<'py, PyAny>> {
        let array = self.array.bind(py);
        (address(array) == self.address).then_some(array)
    }
}

fn address(array: &Bound<'_, PyAny>) -> usize {
    array.cast::<PyUntypedArray>().map_or(0, |array| data_address(array))
}

impl ArrayPool {
    const CAPACITY: usize = 4;

    /// A free array that is still sound, or a new one.
    pub fn take<'py>(
        &self,
        py: Python<'py>,
        is_sound: impl Fn(&Bound<'py, PyAny>) -> bool,
        new: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(array) = self.free(py, is_sound) {
            return Ok(array);
        }
        let array = new()?;
        let pooled = Pooled::new(array.clone());
        match self.0.try_lock() {
            Ok(mut arrays) if arrays.len() < Self::CAPACITY => arrays.push(pooled),
            _ => {}
        }
        Ok(array)
    }

    fn free<'py>(
        &self,
        py: Python<'py>,
        is_sound: impl Fn(&Bound<'py, PyAny>) -> bool,
    ) -> Option<Bound<'py, PyAny>> {
        // Dropping an array may run Python code, so it is done when the pool is no longer locked.
        let mut dropped = Vec::new();
        let mut arrays = self.0.try_lock().ok()?;
        while let Some(index) = arrays.iter().position(|array| array.holders() == 1) {
            if let Some(array) = arrays[index].get(py).filter(|array| is_sound(array)) {
                return Some(array.clone());
            }
            dropped.push(arrays.swap_remove(index));
        }
        None
    }
}
