//! The properties of a `Batch`.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Batch;
use super::settings::partners_dict;
use crate::bindings::arrays::vectors::collect;
use crate::bindings::encode::layout::layout;
use crate::bindings::rules::variant::Variant;

#[pymethods]
impl Batch {
    /// The variant that is played.
    #[getter]
    fn variant(&self) -> PyResult<Variant> {
        Ok(Variant(self.lock()?.batch.variant().clone()))
    }

    /// Number of games.
    #[getter]
    fn num_envs(&self) -> PyResult<usize> {
        Ok(self.lock()?.batch.num_envs())
    }

    /// The last seed of the whole batch: of the constructor, or of a reset with one seed.
    #[getter]
    fn seed(&self) -> PyResult<u64> {
        Ok(self.lock()?.batch.seed())
    }

    /// The encoder's name.
    #[getter]
    fn encoder(&self) -> PyResult<&'static str> {
        Ok(self.lock()?.batch.options().encoder.name())
    }

    /// The dtype's name.
    #[getter]
    fn dtype(&self) -> PyResult<&'static str> {
        Ok(self.lock()?.batch.options().dtype.name())
    }

    /// Whose observations are written: "current" or "all".
    #[getter]
    fn observers(&self) -> PyResult<&'static str> {
        Ok(self.lock()?.batch.options().observers.name())
    }

    /// When an ended game is dealt anew: "SameStep", "NextStep" or "Disabled".
    #[getter]
    fn autoreset_mode(&self) -> PyResult<&'static str> {
        Ok(self.lock()?.batch.options().autoreset_mode.name())
    }

    /// What an illegal action does: "raise" or "terminate".
    #[getter]
    fn illegal_action(&self) -> PyResult<&'static str> {
        Ok(self.lock()?.batch.options().illegal_action.name())
    }

    /// The partners by seat: a name, or a list to draw from, of names or of pairs (name, weight). An external partner,
    /// such as one written in Python, has no name. The name of a policy has the path of the
    /// file that its weights came from; that file may have changed since.
    #[getter]
    fn partners<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        partners_dict(py, &self.lock()?.batch.options().partners)
    }

    /// The names of the extra outputs that `step`, `reset` and `observe` return, in the order of the outputs.
    #[getter]
    fn extra_outputs(&self) -> PyResult<Vec<&'static str>> {
        let batch = &self.lock()?.batch;
        Ok(batch.options().extra_outputs.iter().map(|output| output.name()).collect())
    }

    /// Number of threads that share the games.
    #[getter]
    fn num_threads(&self) -> PyResult<usize> {
        Ok(self.lock()?.batch.options().num_threads)
    }

    /// The named sections of an observation.
    #[getter]
    fn layout<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        layout(py, self.lock()?.batch.layout())
    }

    /// The episode of each game: uint64 (N,), counted from 0.
    #[getter]
    fn episodes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let batch = &self.lock()?.batch;
        Ok(collect("episodes", batch.num_envs(), batch.episodes().map(|it| it.episode))?
            .into_pyarray(py))
    }
}
