//! The methods by which `HanabiVectorEnv` and `play_games` play the turns of players written in Python.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Batch;
use crate::batch::{self, BatchError, BotTurns, PartnersError};
use crate::bindings::arguments::numbers::{Integer, count, seed as read_seed};
use crate::bindings::arrays::copies::mask;
use crate::bindings::arrays::vectors::collect;
use crate::bindings::bots::play_bots::{
    GivenPlayers, RecordingTuple, read_games, read_players, recording_tuple,
};
use crate::bindings::encode::view_rows::{ViewRequest, pairs, rows};
use crate::bindings::interruptible::{detached, interruptible};
use crate::bindings::rules::variant::read_variant;
use crate::bindings::rules::view::View;
use crate::rules::{EpisodeSeed, Seat, State};

/// The most games that are recorded without looking for signals.
const LONG_RECORD: usize = 1 << 12;

#[pymethods]
impl Batch {
    /// Games without a learner, for `play_games`: those from the first one, or those whose numbers are listed,
    /// uint64. `None` in `players` is a seat that Python plays; if there is one, no turn is played.
    #[staticmethod]
    #[pyo3(signature = (variant, players, games, seed, first_game, listed=None))]
    fn _without_learner(
        py: Python<'_>,
        variant: &Bound<'_, PyAny>,
        players: GivenPlayers<'_>,
        games: Integer,
        seed: &Bound<'_, PyAny>,
        first_game: Integer,
        listed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Batch> {
        let variant = read_variant(variant)?;
        let players = read_players(&variant, &players)?;
        let (seed, games) = (read_seed(seed)?, read_games(&first_game, &games, listed)?);
        let episodes = games.into_iter().map(|game| EpisodeSeed { seed, game, episode: 0 });
        let deal = || batch::Batch::without_learner(variant, players, episodes);
        Ok(Batch::wrap(py, interruptible(py, deal)??))
    }

    /// The games of a batch without a learner, as far as they were played: decks uint8 (N, deck_size), start players
    /// uint8 (N,), actions uint8 (turns,) and offsets int64 (N + 1,).
    fn _recorded<'py>(&self, py: Python<'py>) -> PyResult<RecordingTuple<'py>> {
        let batch = &self.lock_whole()?.batch;
        let recording = detached(batch.num_envs() > LONG_RECORD, py, || batch.recorded())?;
        recording_tuple(py, recording?)
    }

    /// A game of a batch with partners, with all hands.
    fn _state(&self, game: Integer) -> PyResult<State> {
        let batch = &self.lock_whole()?.batch;
        let game = count("game", &game, 0..=batch.num_envs() - 1)?;
        batch.partner_state(game).ok_or_else(|| BatchError::from(PartnersError::Missing).into())
    }

    /// Begins a step of a batch with external partners: plays the learner's actions.
    fn _begin_step(&self, py: Python<'_>, actions: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut games = self.read_actions(actions)?;
        games.play(py, |batch, actions| batch.begin_step(actions))
    }

    /// Plays the turns of partners in the games of a mask, bool (N,): the action of an external partner, or the turn
    /// of a bot, whose entry in `actions` is ignored. Bots then play on, unless the caller sees `every_turn`.
    fn _answer(
        &self,
        py: Python<'_>,
        actions: &Bound<'_, PyAny>,
        moving: &Bound<'_, PyAny>,
        every_turn: bool,
    ) -> PyResult<()> {
        let moving = mask("moving", moving, self.shape()?[0])?;
        let turns = if every_turn { BotTurns::One } else { BotTurns::UntilExternal };
        let mut games = self.read_actions(actions)?;
        games.play(py, |batch, actions| batch.play_partners(actions, &moving, turns))
    }

    /// Ends a step of a batch with external partners, and returns its outputs in new arrays.
    fn _end_step(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        self.call_new(py, self.lock()?, |games, outputs| games.batch.end_step(outputs))
    }

    /// For each game the seat to act, int32 (N,); -1 if the game is over.
    fn _to_act<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let batch = &self.lock_whole()?.batch;
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
            let drawn =
                batch.drawn_partner(place / shape[1], Seat::new_unchecked(place % shape[1]));
            drawn.map_or(-1, |index| index as i32)
        });
        collect("partners", number, drawn)?.into_pyarray(py).reshape(shape)
    }

    /// The view of the seat to act in a game of a batch with partners.
    fn _view(&self, game: Integer) -> PyResult<View> {
        let state = self._state(game)?;
        let seat = state.current_player();
        Ok(View::new(state, seat))
    }

    /// What seats see of games: a row for each of K pairs, int64 (K,) each, of a game and a seat. `wanted` is a tuple
    /// of the encoder, the dtype and a list of extra outputs. Returns arrays by name: "obs" (K, D), "action_mask" bool
    /// (K, A), all false in the rows of a seat that is not to act, and the extra outputs.
    fn _rows<'py>(
        &self,
        py: Python<'py>,
        games: &Bound<'py, PyAny>,
        seats: &Bound<'py, PyAny>,
        wanted: ViewRequest,
    ) -> PyResult<Bound<'py, PyDict>> {
        let batch = &self.lock_whole()?.batch;
        let variant = batch.variant();
        let pairs = pairs(games, seats, batch.num_envs(), variant.players())?;
        let position = |row: usize| {
            let (game, seat) = pairs[row];
            (batch.position(game), seat)
        };
        rows(py, variant, &wanted, pairs.len(), position)
    }
}
