//! The games that ended in the last step of a `Batch`, and their last observations.

use std::iter;

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use super::Batch;
use crate::bindings::arrays::vectors::collect;

impl Batch {
    /// The games that ended in the last step, and an array of their last observations.
    fn last_observations<'py>(&self, py: Python<'py>) -> PyResult<(Vec<usize>, Bound<'py, PyAny>)> {
        let batch = &mut self.lock()?.batch;
        let games = batch.finished()?;
        let rows = self
            .outputs
            .new_observations(py, games.len(), |buffer| batch.write_final_observations(buffer))?;
        Ok((games, rows))
    }
}

#[pymethods]
impl Batch {
    /// Number of games that ended in the last step and were dealt anew in it ("SameStep").
    #[getter]
    fn num_finished(&self) -> PyResult<usize> {
        Ok(self.lock_whole()?.batch.num_finished())
    }

    /// The games that ended in the last step and were dealt anew in it ("SameStep").
    ///
    /// Returns:
    ///     The indices of the K games, int64 (K,), in ascending order, and their last observations in
    ///     a new array, as `obs` but with K for N.
    ///
    /// Raises:
    ///     StarmineError: an earlier call was interrupted: reset all games first.
    ///     MemoryError: there is no memory for the rows.
    ///     BusyError: another thread is in a call of this batch.
    fn final_observations<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyAny>)> {
        let (games, rows) = self.last_observations(py)?;
        let indices = games.iter().map(|&game| game as i64);
        let indices = collect("final_observations", games.len(), indices)?;
        Ok((indices.into_pyarray(py), rows))
    }

    /// Gymnasium's `final_obs` after a step, for `HanabiVectorEnv`: object (N,), the last observation
    /// of each game that ended, else None; or None if no game ended.
    fn _final_obs<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<Bound<'py, PyArray1<Py<PyAny>>>>> {
        if self.num_finished()? == 0 {
            return Ok(None);
        }
        let (games, rows) = self.last_observations(py)?;
        let [num_envs, _] = self.shape()?;
        let mut objects = collect("final_obs", num_envs, iter::repeat_with(|| py.None()))?;
        for (row, game) in games.into_iter().enumerate() {
            objects[game] = rows.get_item(row)?.unbind();
        }
        Ok(Some(objects.into_pyarray(py)))
    }
}
