//! Games among bots, and games in which Python plays some of the seats.

use std::collections::TryReserveError;
use std::iter;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::player::read_player;
use crate::bindings::arguments::numbers::{Integer, count, seed as read_seed};
use crate::bindings::arrays::copies::integers;
use crate::bindings::arrays::vectors::{collect, with_capacity};
use crate::bindings::encode::seen::{ViewRequest, pairs, rows};
use crate::bindings::errors::{StarmineError, illegal_action};
use crate::bindings::interruptible::{interruptible, interruptible_if};
use crate::bindings::rules::variant::{Variant, read_variant};
use crate::bindings::rules::view::View;
use crate::bots::{
    GameRunner, GamesError, GamesOptions, Outcome, PlayedGames, Player, TurnValues, check_number,
    play_listed_games,
};
use crate::players::PlayerSpec;
use crate::rules::{self, EpisodeSeed, MoveError, Recording};
use crate::threads::is_stopped;

/// The most games of one call, and the highest index of the first.
const GAMES: usize = u32::MAX as usize;

/// The players of a table as Python gives them: loaded players or their texts, and `None` for a seat that Python plays.
type GivenPlayers<'py> = Vec<Option<Bound<'py, PyAny>>>;

/// The most games that are recorded without looking for signals.
const LONG_RECORD: usize = 1 << 12;

/// The most games in which bots play without looking for signals, if none of them takes long.
const FEW: usize = 8;

/// The most games whose bots are told of a move without looking for signals.
const LONG: usize = 1 << 8;

/// Reads the players of a table.
fn read_players(variant: &rules::Variant, given: &GivenPlayers<'_>) -> PyResult<Vec<Player>> {
    check_number(variant, given.len())?;
    let read = |(seat, given): (usize, &Option<Bound<'_, PyAny>>)| match given {
        Some(given) => read_player(&format!("players[{seat}]"), given),
        None => Ok(PlayerSpec::external()),
    };
    let specs: Vec<PlayerSpec> = given.iter().enumerate().map(read).collect::<PyResult<_>>()?;
    specs.iter().map(|spec| Ok(spec.player(variant)?)).collect()
}

/// The numbers of the games to play: this many from the first one, or those that are listed.
fn read_games(
    first: &Integer,
    games: &Integer,
    listed: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<u64>> {
    if let Some(listed) = listed {
        let listed = integers("listed", listed)?;
        if listed.is_empty() || listed.iter().any(|game| !(0..=GAMES as i64).contains(game)) {
            let message = format!("listed: expected at least one game, each from 0 to {GAMES}");
            return Err(StarmineError::new_err(message));
        }
        return collect("games", listed.len(), listed.iter().map(|&game| game as u64));
    }
    let first = count("first_game", first, 0..=GAMES)? as u64;
    let games = count("games", games, 1..=GAMES)?;
    collect("games", games, first..first + games as u64)
}

type Columns<'py> = (
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i8>>,
);

/// Scores, fireworks, lengths and endings; for a game without an outcome -1, -1, -1 and 0.
fn columns<'py, I>(py: Python<'py>, outcomes: impl Fn() -> I) -> PyResult<Columns<'py>>
where
    I: ExactSizeIterator<Item = Option<Outcome>>,
{
    let column = |read: fn(&Outcome) -> i32| {
        let values = outcomes().map(|outcome| outcome.as_ref().map_or(-1, read));
        Ok::<_, PyErr>(collect("games", values.len(), values)?.into_pyarray(py))
    };
    let endings = outcomes().map(|it| it.map_or(0, |outcome| outcome.ending.code()));
    Ok((
        column(|outcome| outcome.score.into())?,
        column(|outcome| outcome.fireworks.into())?,
        column(|outcome| outcome.length as i32)?,
        collect("games", endings.len(), endings)?.into_pyarray(py),
    ))
}

/// Decks uint8 (games, deck_size), start players uint8 (games,), actions uint8 (turns,) and offsets
/// int64 (games + 1,).
type RecordingArrays<'py> = (
    Bound<'py, PyArray2<u8>>,
    Bound<'py, PyArray1<u8>>,
    Bound<'py, PyArray1<u8>>,
    Bound<'py, PyArray1<i64>>,
);

fn recorded<'py>(py: Python<'py>, recording: Recording) -> PyResult<RecordingArrays<'py>> {
    let rules::RecordingArrays { decks, start_players, actions, ends } = recording.into_arrays();
    let games = ends.len();
    let offsets = std::iter::once(0).chain(ends.into_iter().map(|end| end as i64));
    let shape = [games, decks.len() / games.max(1)];
    Ok((
        decks.into_pyarray(py).reshape(shape)?,
        start_players.into_pyarray(py),
        actions.into_pyarray(py),
        collect("offsets", games + 1, offsets)?.into_pyarray(py),
    ))
}

/// The means and the standard errors of the values of all actions, each float32 (turns, actions).
type ValueArrays<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray2<f32>>);

fn searched<'py>(
    py: Python<'py>,
    variant: &rules::Variant,
    values: TurnValues,
) -> PyResult<ValueArrays<'py>> {
    let shape = [values.means.len() / variant.num_actions(), variant.num_actions()];
    let array = |numbers: Vec<f32>| numbers.into_pyarray(py).reshape(shape);
    Ok((array(values.means)?, array(values.standard_errors)?))
}

fn no_memory(error: &TryReserveError) -> PyErr {
    PyMemoryError::new_err(format!("the recorded games: {error}"))
}

/// _play_bots(variant, players, games, seed, first_game, num_threads, record, listed=None)
///
/// Plays games among bots: those from the first one, or those whose numbers are listed, uint64.
///
/// Returns:
///     Scores, fireworks and lengths int32 (games,), endings int8 (games,); and with `record` decks
///     uint8 (games, deck_size), start players uint8 (games,), actions uint8 (turns,) and offsets int64
///     (games + 1,), else None; and, if they are recorded and a bot searches, the means and the standard errors of
///     the values of all actions, each float32 (turns, actions), NaN where there are none, else None.
#[pyfunction]
#[pyo3(signature = (variant, players, games, seed, first_game, num_threads, record, listed=None))]
#[expect(clippy::too_many_arguments, reason = "each is an argument in Python")]
pub fn _play_bots<'py>(
    py: Python<'py>,
    variant: &Bound<'py, PyAny>,
    players: GivenPlayers<'py>,
    games: Integer,
    seed: &Bound<'py, PyAny>,
    first_game: Integer,
    num_threads: Integer,
    record: bool,
    listed: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Columns<'py>, Option<RecordingArrays<'py>>, Option<ValueArrays<'py>>)> {
    let variant = read_variant(variant)?;
    let players = read_players(&variant, &players)?;
    let (seed, games) = (read_seed(seed)?, read_games(&first_game, &games, listed)?);
    let num_threads = count("num_threads", &num_threads, 1..=crate::batch::MAX_THREADS)?;
    let options = GamesOptions { seed, num_threads };
    let played =
        interruptible(py, || play_listed_games(&variant, &players, &games, options, record))?;
    let PlayedGames { outcomes, recording, turn_values: values } = played?;
    let columns = columns(py, || outcomes.iter().copied().map(Some))?;
    let values = values.map(|values| searched(py, &variant, values)).transpose()?;
    Ok((columns, record.then(|| recorded(py, recording)).transpose()?, values))
}

/// Games in which Python holds some of the seats, for `play_games`.
#[pyclass(module = "starmine")]
pub struct _Tables {
    variant: Arc<rules::Variant>,
    tables: Vec<GameRunner>,
    /// Which games were abandoned.
    abandoned: Vec<bool>,
}

impl _Tables {
    fn no_game(&self, game: i64) -> PyErr {
        StarmineError::new_err(format!(
            "game={game} is not allowed: expected 0 to {}",
            self.tables.len() - 1
        ))
    }

    fn table(&mut self, game: &Integer) -> PyResult<(usize, &mut GameRunner)> {
        let game = count("game", game, 0..=self.tables.len() - 1)?;
        Ok((game, &mut self.tables[game]))
    }
}

#[pymethods]
impl _Tables {
    /// Deals the games, from the first one or those whose numbers are listed, uint64. `None` in
    /// `players` is a seat that Python plays.
    #[new]
    #[pyo3(signature = (variant, players, games, seed, first_game, listed=None))]
    fn new(
        py: Python<'_>,
        variant: &Bound<'_, PyAny>,
        players: GivenPlayers<'_>,
        games: Integer,
        seed: &Bound<'_, PyAny>,
        first_game: Integer,
        listed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<_Tables> {
        let variant = read_variant(variant)?;
        let players = read_players(&variant, &players)?;
        let (seed, games) = (read_seed(seed)?, read_games(&first_game, &games, listed)?);
        let mut tables = with_capacity("games", games.len())?;
        let abandoned = collect("games", games.len(), iter::repeat(false))?;
        interruptible(py, || {
            let games = games.into_iter().take_while(|_| !is_stopped());
            let seeds = games.map(|game| EpisodeSeed { seed, game, episode: 0 });
            seeds.map(|seed| GameRunner::new(variant.clone(), players.clone(), seed)).try_for_each(
                |table| {
                    tables.push(table?);
                    Ok::<_, GamesError>(())
                },
            )
        })??;
        Ok(_Tables { variant, tables, abandoned })
    }

    /// The variant that is played.
    #[getter]
    fn variant(&self) -> Variant {
        Variant(self.variant.clone())
    }

    /// Lets the bots play every game until it ends or a seat that Python plays is to act, and at most this many turns of
    /// each game.
    ///
    /// Returns:
    ///     The seat to act in each game, int32 (games,), -1 for a game that ended or was abandoned.
    #[pyo3(signature = (most_turns=usize::MAX))]
    fn run<'py>(
        &mut self,
        py: Python<'py>,
        most_turns: usize,
    ) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let mut seats = with_capacity("games", self.tables.len())?;
        let waits =
            |&(table, abandoned): &(&GameRunner, &bool)| !abandoned && table.waits_for_bot();
        let waiting = || self.tables.iter().zip(&self.abandoned).filter(waits);
        let is_long = waiting().count() > FEW || waiting().any(|(table, _)| table.takes_long());
        let played = interruptible_if(is_long, py, || {
            for (table, &abandoned) in self.tables.iter_mut().zip(&self.abandoned) {
                let mut turns = 0;
                let game = table.seed().game;
                let failed = |source| GamesError::Game { game, source };
                while !abandoned && turns < most_turns && table.play_bot().map_err(failed)? {
                    turns += 1;
                }
                let goes_on = !abandoned && table.ending().is_none();
                seats.push(if goes_on {
                    u8::from(table.position().current_player).into()
                } else {
                    -1
                });
            }
            Ok::<_, GamesError>(())
        });
        played??;
        Ok(seats.into_pyarray(py))
    }

    /// The view of the seat to act in a game.
    fn view(&mut self, game: Integer) -> PyResult<View> {
        let (_, table) = self.table(&game)?;
        let seat = table.position().current_player;
        Ok(View::new(table.state(), seat))
    }

    /// The open table of a game.
    fn state(&mut self, game: Integer) -> PyResult<rules::State> {
        Ok(self.table(&game)?.1.state())
    }

    /// Plays an action id, or a move's text, in a game.
    ///
    /// Raises:
    ///     IllegalActionError: the game is over or the action is not legal; nothing has changed.
    ///     NotationError: the text is not a move.
    fn apply(&mut self, game: Integer, action: &Bound<'_, PyAny>) -> PyResult<()> {
        let (_, table) = self.table(&game)?;
        let action = Variant(table.variant().clone()).read_action(action)?;
        let played = table.position().check_action(table.variant(), action.value);
        let refuse = |error: MoveError| illegal_action(&error, action.explain(&error));
        table.play_unchecked(played.map_err(refuse)?);
        Ok(())
    }

    /// What seats see of games: a row for each of K pairs of a game and a seat, int64 (K,) each. `wanted` is a tuple of
    /// the encoder, the dtype and a list of extra outputs. Returns arrays by name: "obs" (K, D), "action_mask" bool (K, A),
    /// all false in the rows of a seat that is not to act, and the extra outputs.
    fn _rows<'py>(
        &self,
        py: Python<'py>,
        games: &Bound<'py, PyAny>,
        seats: &Bound<'py, PyAny>,
        wanted: ViewRequest,
    ) -> PyResult<Bound<'py, PyDict>> {
        let pairs = pairs(games, seats, self.tables.len(), self.variant.players())?;
        let position = |row: usize| {
            let (game, seat) = pairs[row];
            (*self.tables[game].position(), seat)
        };
        rows(py, &self.variant, &wanted, pairs.len(), position)
    }

    /// Plays an action in each of these games.
    ///
    /// Returns:
    ///     The games in which the action is not legal. They have not moved.
    fn apply_all(
        &mut self,
        py: Python<'_>,
        games: &Bound<'_, PyAny>,
        actions: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<usize>> {
        let (games, actions) = (integers("games", games)?, integers("actions", actions)?);
        if games.len() != actions.len() {
            return Err(StarmineError::new_err(format!(
                "actions has {} elements: expected {}",
                actions.len(),
                games.len()
            )));
        }
        let numbers = 0..self.tables.len() as i64;
        if let Some(&game) = games.iter().find(|game| !numbers.contains(game)) {
            return Err(self.no_game(game));
        }
        // The bots are told of the moves, which takes some of them a tenth of a millisecond.
        interruptible_if(games.len() > LONG, py, || {
            let mut refused = Vec::new();
            let moves = games.iter().zip(&actions).take_while(|_| !is_stopped());
            for (&game, &action) in moves {
                let game = game as usize;
                let table = &mut self.tables[game];
                match table.position().check_action(&self.variant, action) {
                    Ok(played) => table.play_unchecked(played),
                    Err(_) => refused.push(game),
                }
            }
            refused
        })
    }

    /// Stops playing a game, which then has no outcome.
    fn abandon(&mut self, game: Integer) -> PyResult<()> {
        let (game, _) = self.table(&game)?;
        self.abandoned[game] = true;
        Ok(())
    }

    /// All games as far as they were played: decks uint8 (games, deck_size), start players uint8
    /// (games,), actions uint8 (turns,) and offsets int64 (games + 1,).
    fn recorded<'py>(&self, py: Python<'py>) -> PyResult<RecordingArrays<'py>> {
        let record = || {
            let mut recording = Recording::new(self.variant.clone());
            for table in self.tables.iter().take_while(|_| !is_stopped()) {
                table.record_same(&mut recording)?;
            }
            Ok(recording)
        };
        let recording = interruptible_if(self.tables.len() > LONG_RECORD, py, record)?;
        recorded(py, recording.map_err(|error: TryReserveError| no_memory(&error))?)
    }

    /// The outcomes of all games.
    ///
    /// Returns:
    ///     Scores, fireworks and lengths int32 (games,), -1 for a game that did not end, and endings
    ///     int8 (games,), 0 for one.
    fn outcomes<'py>(&self, py: Python<'py>) -> PyResult<Columns<'py>> {
        let outcome = |(table, &abandoned): (&GameRunner, &bool)| {
            if abandoned { None } else { table.outcome() }
        };
        columns(py, || self.tables.iter().zip(&self.abandoned).map(outcome))
    }
}
