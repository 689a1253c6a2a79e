use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

use super::section::Section;
use super::text::Text;
use crate::encode;

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
        self.0.sections().iter().map(Section::new).collect()
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

    fn __getitem__(&self, name: Text) -> PyResult<Section> {
        let found = self.list().into_iter().find(|section| section.name == &*name);
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
