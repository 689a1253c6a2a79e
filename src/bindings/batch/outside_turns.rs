//! The methods by which `HanabiVectorEnv` plays the turns of partners written in Python.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Batch;
use crate::bindings::arguments::numbers::{Integer, count};
use crate::bindings::arrays::copies::mask;
use crate::bindings::arrays::vectors::collect;
use crate::bindings::encode::seen::{ViewRequest, pairs, rows};
use crate::bindings::errors::StarmineError;
use crate::bindings::rules::view::View;
use crate::rules::Seat;

#[pymethods]
impl Batch {
    /// Plays one turn in the games of a mask, bool (N,), in a batch with partners. The other games do not
    /// change. A game that stopped before the turn of a bot plays the bot's move, whatever its action is. Returns `reward`, `terminated`, `illegal_action` and the outputs whose names begin with `final_`.
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

    /// For each game of a batch with partners the seat to act, int32 (N,); -1 if the game is over.
    fn _to_act<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let batch = &self.lock()?.batch;
        if batch.options().partners.is_empty() {
            return Err(StarmineError::new_err("this batch has no partners: expected some"));
        }
        let seats = batch.to_act().map(|seat| seat.map_or(-1, |seat| u8::from(seat).into()));
        Ok(collect("seats", batch.num_envs(), seats)?.into_pyarray(py))
    }

    /// For each game and seat the index, in the seat's sequence of partners, of the partner who plays this episode:
    /// int32 (N, players), -1 for a seat of the learner.
    fn _partners<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i32>>> {
        let batch = &self.lock()?.batch;
        let shape = [batch.num_envs(), batch.variant().players().into()];
        let number = shape[0] * shape[1];
        let drawn = (0..number).map(|place| {
            let drawn = batch.drawn_partner(place / shape[1], Seat::at(place % shape[1]));
            drawn.map_or(-1, |index| index as i32)
        });
        collect("partners", number, drawn)?.into_pyarray(py).reshape(shape)
    }

    /// The view of the seat to act in a game of a batch with partners.
    fn _view(&self, game: Integer) -> PyResult<View> {
        let batch = &self.lock()?.batch;
        if batch.options().partners.is_empty() {
            return Err(StarmineError::new_err("this batch has no partners: expected some"));
        }
        let game = count("game", &game, 0..=batch.num_envs() - 1)?;
        let state = batch.partner_state(game).expect("there are partners");
        let seat = state.current_player();
        Ok(View::new(state, seat))
    }

    /// What seats see of games: a row for each of K pairs, with `wanted` as `_Tables._rows` takes it.
    fn _rows<'py>(
        &self,
        py: Python<'py>,
        games: &Bound<'py, PyAny>,
        seats: &Bound<'py, PyAny>,
        wanted: ViewRequest,
    ) -> PyResult<Bound<'py, PyDict>> {
        let batch = &self.lock()?.batch;
        let variant = batch.variant();
        let pairs = pairs(games, seats, batch.num_envs(), variant.players())?;
        let position = |row: usize| {
            let (game, seat) = pairs[row];
            (batch.position(game), seat)
        };
        rows(py, variant, &wanted, pairs.len(), position)
    }
}
