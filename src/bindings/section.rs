use pyo3::prelude::*;
use pyo3::types::{PySlice, PyTuple};

use crate::encode;

/// A named range of features in an observation.
///
/// Attributes:
///     name: the name.
///     start: the first feature's index.
///     stop: the index after the last.
///     slice: `slice(start, stop)`.
///     shape: the sizes of the section's axes; their product is `stop - start`.
#[pyclass(frozen, eq, module = "starmine")]
#[derive(Clone, PartialEq)]
pub struct Section {
    #[pyo3(get)]
    pub(super) name: &'static str,
    #[pyo3(get)]
    start: usize,
    #[pyo3(get)]
    stop: usize,
    axes: Vec<usize>,
}

impl Section {
    pub(super) fn new(section: &encode::Section) -> Section {
        Section {
            name: section.name,
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

    pub(super) fn __repr__(&self) -> String {
        let axes: Vec<String> = self.axes.iter().map(usize::to_string).collect();
        format!("<Section {} {}:{} shape ({})>", self.name, self.start, self.stop, axes.join(", "))
    }
}
