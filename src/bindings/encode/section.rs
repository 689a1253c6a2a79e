//! The Python class `Section`: a named range of an observation.

use pyo3::prelude::*;
use pyo3::types::{PySlice, PyTuple};

use crate::bindings::errors::StarmineError;
use crate::encode;

/// The arguments of `Section._restored`.
type Fields = (String, usize, usize, Vec<usize>);

/// A named range of features in an observation, an element of a `Layout`.
///
/// Attributes:
///     name: the name.
///     start: the first feature's index.
///     stop: the index after the last.
///     slice: `slice(start, stop, 1)`, to index the last axis of observations.
///     shape: the sizes of the section's axes; their product is `stop - start`.
#[pyclass(frozen, eq, hash, from_py_object, module = "starmine.envs")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Section {
    #[pyo3(get)]
    pub name: String,
    #[pyo3(get)]
    pub start: usize,
    #[pyo3(get)]
    pub stop: usize,
    axes: Vec<usize>,
}

impl Section {
    pub fn new(section: &encode::Section) -> Section {
        Section {
            name: section.name.to_owned(),
            start: section.range.start,
            stop: section.range.end,
            axes: section.shape.clone(),
        }
    }
}

#[pymethods]
impl Section {
    #[getter]
    fn slice<'py>(&self, py: Python<'py>) -> Bound<'py, PySlice> {
        PySlice::new(py, self.start as isize, self.stop as isize, 1)
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.axes)
    }

    fn __len__(&self) -> usize {
        self.stop - self.start
    }

    pub fn __repr__(&self) -> String {
        let axes: Vec<String> = self.axes.iter().map(usize::to_string).collect();
        format!("<Section {} {}:{} shape ({})>", self.name, self.start, self.stop, axes.join(", "))
    }

    /// The section of `__reduce__`.
    ///
    /// Raises:
    ///     StarmineError: the product of the shape is not the length.
    #[staticmethod]
    fn _restored(name: String, start: usize, stop: usize, shape: Vec<usize>) -> PyResult<Section> {
        let length = shape.iter().try_fold(1_usize, |length, &axis| length.checked_mul(axis));
        let is_range = start <= stop && isize::try_from(stop).is_ok();
        if !is_range || length != Some(stop - start) {
            return Err(StarmineError::new_err(format!(
                "the stored section {start}:{stop} has shape {shape:?}: expected its length"
            )));
        }
        Ok(Section { name, start, stop, axes: shape })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Fields)> {
        let stored = (self.name.clone(), self.start, self.stop, self.axes.clone());
        Ok((py.get_type::<Section>().getattr("_restored")?, stored))
    }
}
