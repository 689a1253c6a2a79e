//! The Python class `Layout`: the sections of an observation, by name and in order.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

use super::section::Section;
use crate::bindings::arguments::text::Text;
use crate::bindings::errors::StarmineError;
use crate::encode;

/// The named sections of an observation, in order. `env.layout`, `batch.layout` and `variant.layout(encoder)` return
/// one; it cannot be made by a call. Iterating gives the sections, an index such as `layout["fireworks"]` one of
/// them, and `len(layout)` the number of features in an observation.
///
/// >>> import starmine
/// >>> layout = starmine.Variant().layout("canonical")
/// >>> len(layout), layout["fireworks"].slice
/// (658, slice(167, 192, 1))
#[pyclass(frozen, eq, hash, module = "starmine.envs")]
#[derive(PartialEq, Eq, Hash)]
pub struct Layout(Vec<Section>);

impl Layout {
    pub fn new(layout: &encode::Layout) -> Layout {
        Layout(layout.sections().iter().map(Section::new).collect())
    }
}

#[pymethods]
impl Layout {
    /// All sections in order.
    #[getter]
    fn sections(&self) -> Vec<Section> {
        self.0.clone()
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let list = self.0.clone().into_pyobject(py)?;
        Ok(list.try_iter()?.into_any().unbind())
    }

    fn __getitem__(&self, name: Text) -> PyResult<Section> {
        let found = self.0.iter().find(|section| *section.name == *name);
        found.cloned().ok_or_else(|| {
            let names: Vec<&str> = self.0.iter().map(|section| &*section.name).collect();
            PyKeyError::new_err(format!("{name:?}: expected one of {}", names.join(", ")))
        })
    }

    /// Number of features in an observation.
    fn __len__(&self) -> usize {
        self.0.last().map_or(0, |section| section.stop)
    }

    fn __repr__(&self) -> String {
        let section = |section: &Section| format!("  {}", section.__repr__());
        let lines: Vec<String> = self.0.iter().map(section).collect();
        format!("<Layout of {} features\n{}>", self.__len__(), lines.join("\n"))
    }

    /// The layout of `__reduce__`.
    ///
    /// Raises:
    ///     StarmineError: the sections do not follow each other.
    #[staticmethod]
    fn _restored(sections: Vec<Section>) -> PyResult<Layout> {
        let starts = sections.iter().map(|section| section.start);
        let stops = [0].into_iter().chain(sections.iter().map(|section| section.stop));
        if starts.zip(stops).any(|(start, stop)| start != stop) {
            return Err(StarmineError::new_err("the stored sections do not follow each other"));
        }
        Ok(Layout(sections))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Vec<Section>,))> {
        Ok((py.get_type::<Layout>().getattr("_restored")?, (self.0.clone(),)))
    }
}
