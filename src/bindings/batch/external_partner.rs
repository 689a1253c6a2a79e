//! Partners whose turns Python plays.

use pyo3::prelude::*;

/// A partner that is not a bot of the core, such as one written in Python: the caller plays its turns.
#[pyclass(frozen, module = "starmine")]
pub struct _ExternalPartner;

#[pymethods]
impl _ExternalPartner {
    #[new]
    const fn new() -> _ExternalPartner {
        _ExternalPartner
    }

    fn __repr__(&self) -> &'static str {
        "<an external partner>"
    }
}
