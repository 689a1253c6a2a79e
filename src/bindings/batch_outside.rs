//! The methods by which `HanabiVectorEnv` plays the turns of partners written in Python.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::batch::Batch;
use super::errors::StarmineError;
use super::integer_arrays::mask;
use super::room::collect;
use super::seen::{Seen, SeenRows};
use super::text::Text;
use crate::rules::View;

#[pymethods]
impl Batch {
    /// Plays one turn in the games of a mask, bool (N,), in a batch with partners. The other games do not
    /// change. Returns `reward`, `terminated`, `illegal_action` and the outputs whose names begin with `final_`.
    fn _step_some(
        &self,
        py: Python<'_>,
        actions: &Bound<'_, PyAny>,
        moving: &Bound<'_, PyAny>,
    ) -> PyResult<Py<PyDict>> {
        let num_envs = self.shape()?[0];
        let moving = mask("moving", moving, num_envs)?;
        let games = self.read_actions(actions)?;
        if games.batch.options().partners.is_empty() {
            return Err(StarmineError::new_err("this batch has no partners: expected some"));
        }
        self.call_for(py, &self.results, games, |games, outputs| {
            games.batch.step_some(&games.actions, &moving, outputs)
        })
    }

    /// For each game the number n of the partner "outside: n" who is to act, int32 (N,); -1 if the learner is
    /// to act or the game is over.
    fn _waiting<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let batch = &self.lock()?.batch;
        let numbers = batch.waiting().map(|number| number.map_or(-1, |number| number as i32));
        Ok(collect("waiting", batch.num_envs(), numbers)?.into_pyarray(py))
    }

    /// The observations uint8 (K, D) and action masks bool (K, A) of the seats to act in K games.
    fn _encode<'py>(
        &self,
        py: Python<'py>,
        games: Vec<usize>,
        encoder: Text,
    ) -> PyResult<Seen<'py>> {
        let batch = &self.lock()?.batch;
        let variant = batch.variant();
        let mut seen = SeenRows::new(variant, &encoder, games.len())?;
        for &game in &games {
            let position = batch.position(game).ok_or_else(|| {
                StarmineError::new_err(format!("game={game} is not a game of this batch"))
            })?;
            seen.push(View::new(variant, &position, position.current_player()));
        }
        seen.into_arrays(py)
    }
}
