//! Partners whose turns Python plays.

use pyo3::prelude::*;

/// A partner that is not a bot of the core, such as one written in Python: the caller plays its turns. With
/// `every_turn` the games of the batch also stop before each turn of a bot, which `_step_some` then plays.
#[pyclass(frozen, module = "starmine")]
pub struct _ExternalPartner {
    pub every_turn: bool,
}

#[pymethods]
impl _ExternalPartner {
    #[new]
    fn new(every_turn: bool) -> _ExternalPartner {
        _ExternalPartner { every_turn }
    }

    fn __repr__(&self) -> &'static str {
        "<an external partner>"
    }
}
