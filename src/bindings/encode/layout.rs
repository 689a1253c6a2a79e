//! The Python class `Layout` of `starmine.envs`, made of the sections of an encoder.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::encode::{Layout, Section};

/// The layout as a Python `Layout`.
pub fn layout<'py>(py: Python<'py>, layout: &Layout) -> PyResult<Bound<'py, PyAny>> {
    let module = py.import("starmine.envs.layout")?;
    let class = module.getattr("Section")?;
    let section = |section: &Section| {
        let shape = PyTuple::new(py, &section.shape)?;
        class.call1((section.name, section.range.start, section.range.end, shape))
    };
    let sections: Vec<_> = layout.sections().iter().map(section).collect::<PyResult<_>>()?;
    module.getattr("Layout")?.call1((PyTuple::new(py, sections)?,))
}
