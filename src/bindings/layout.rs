use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyTuple};

use crate::encode;

/// A named run of features in an observation.
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
    name: &'static str,
    #[pyo3(get)]
    start: usize,
    #[pyo3(get)]
    stop: usize,
    axes: Vec<usize>,
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

    fn __repr__(&self) -> String {
        let axes: Vec<String> = self.axes.iter().map(usize::to_string).collect();
        format!("<Section {} {}:{} shape ({})>", self.name, self.start, self.stop, axes.join(", "))
    }
}

/// The named sections of an observation, in order: iterate over it, or index it by name.
///
/// >>> import starmine
/// >>> layout = starmine.Variant().layout("canonical")
/// >>> len(layout), layout["fireworks"].slice
/// (658, slice(167, 192, 1))
#[pyclass(frozen, module = "starmine")]
pub struct Layout(pub encode::Layout);

impl Layout {
    fn list(&self) -> Vec<Section> {
        let section = |section: &encode::Section| Section {
            name: section.name,
            start: section.range.start,
            stop: section.range.end,
            axes: section.shape.clone(),
        };
        self.0.sections().iter().map(section).collect()
    }
}

#[pymethods]
impl Layout {
    /// All sections in order.
    #[getter]
    fn sections(&self) -> Vec<Section> {
        self.list()
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let list = self.list().into_pyobject(py)?;
        Ok(list.try_iter()?.into_any().unbind())
    }

    fn __getitem__(&self, name: &str) -> PyResult<Section> {
        let found = self.list().into_iter().find(|section| section.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = self.0.sections().iter().map(|section| section.name).collect();
            PyKeyError::new_err(format!("{name:?}: expected one of {}", names.join(", ")))
        })
    }

    /// Number of features in an observation.
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        let section = |section: Section| format!("  {}", section.__repr__());
        let lines: Vec<String> = self.list().into_iter().map(section).collect();
        format!("<Layout of {} features\n{}>", self.0.len(), lines.join("\n"))
    }
}
