//! Recorded games: their arrays, and the rules' verdict on them.

use std::collections::TryReserveError;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyMemoryError};
use pyo3::prelude::*;

use super::variant::read_variant;
use crate::bindings::arguments::numbers::{Integer, count};
use crate::bindings::arrays::check::untyped;
use crate::bindings::arrays::copies::{copy, read_integers};
use crate::bindings::arrays::vectors::collect;
use crate::bindings::errors::ArrayError;
use crate::bindings::interruptible::interruptible;
use crate::buffers::try_with_capacity;
use crate::rules::{self, DeckError, MoveError, Recording, RecordingArrays, State};
use crate::threads::{for_each_piece, is_stopped};

/// The number of games that a thread checks at a time.
const GAMES_PER_PIECE: usize = 1 << 10;

/// Reads decks uint8 (games, deck_size), start players uint8 (games,), actions uint8 (turns,) and
/// offsets int64 (games + 1,).
pub fn read_recording(
    variant: &Arc<rules::Variant>,
    [decks, start_players, actions, offsets]: [&Bound<'_, PyAny>; 4],
) -> PyResult<Recording> {
    let length = |name, array| PyResult::Ok(untyped(name, array)?.shape().first().copied());
    let games = length("decks", decks)?.unwrap_or(0);
    let turns = length("actions", actions)?.unwrap_or(0);
    let decks = copy("decks", decks, &[games, variant.deck_size().into()])?;
    let start_players = copy("start_players", start_players, &[games])?;
    let actions = copy("actions", actions, &[turns])?;
    let mut numbers = Vec::new();
    read_integers("offsets", offsets, &[games + 1], &mut numbers)?;
    let is_ascending = numbers.is_sorted() && numbers[0] == 0 && numbers[games] == turns as i64;
    if !is_ascending {
        return Err(ArrayError::new_err(format!(
            "offsets are not those of games in one array: expected ascending numbers from 0 to {turns}, the number \
             of actions"
        )));
    }
    let ends = collect("offsets", games, numbers[1..].iter().map(|&end| end as u64))?;
    let arrays = RecordingArrays { decks, start_players, actions, ends };
    let recording = Recording::from_arrays(variant.clone(), arrays);
    Ok(recording.expect("the shapes and the offsets were checked"))
}

/// Scores, fireworks, endings, problems and turns.
type Outcomes<'py> = (
    Bound<'py, PyArray1<u8>>,
    Bound<'py, PyArray1<u8>>,
    Bound<'py, PyArray1<u8>>,
    Bound<'py, PyArray1<i8>>,
    Bound<'py, PyArray1<i32>>,
);

/// _outcomes(variant, decks, start_players, actions, offsets, num_threads)
///
/// Plays recorded games by the rules, as far as their actions are legal.
///
/// Returns:
///     Scores, fireworks and endings uint8 (games,), as they were after the last turn; problems int8
///     (games,), 0 for none, 1 for a deck that is not the variant's, 2 for a start player that is not a
///     seat, 3 for an illegal action, 4 for actions after the end; and turns int32 (games,), the number of
///     turns that could be played.
#[pyfunction]
pub fn _outcomes<'py>(
    py: Python<'py>,
    variant: &Bound<'py, PyAny>,
    decks: &Bound<'py, PyAny>,
    start_players: &Bound<'py, PyAny>,
    actions: &Bound<'py, PyAny>,
    offsets: &Bound<'py, PyAny>,
    num_threads: Integer,
) -> PyResult<Outcomes<'py>> {
    let variant = read_variant(variant)?;
    let games = read_recording(&variant, [decks, start_players, actions, offsets])?;
    let num_threads = count("num_threads", &num_threads, 1..=crate::batch::MAX_THREADS)?;
    let rows = interruptible(py, || outcomes(&games, num_threads))?;
    let rows = rows.map_err(|error| PyMemoryError::new_err(error.to_string()))?;
    let bytes =
        |field: usize| collect("games", rows.len(), rows.iter().map(|row| row[field] as u8));
    let problems = collect("games", rows.len(), rows.iter().map(|row| row[3] as i8))?;
    let turns = collect("games", rows.len(), rows.iter().map(|row| row[4]))?;
    Ok((
        bytes(0)?.into_pyarray(py),
        bytes(1)?.into_pyarray(py),
        bytes(2)?.into_pyarray(py),
        problems.into_pyarray(py),
        turns.into_pyarray(py),
    ))
}

/// _take_actions(actions, offsets, games)
///
/// The actions of some games, uint8, game after game, given the actions uint8 (turns,) and offsets int64
/// (games + 1,) of all games and the indices int64 of the chosen ones. numpy takes thirty times as long.
#[pyfunction]
pub fn _take_actions<'py>(
    py: Python<'py>,
    actions: PyReadonlyArray1<'py, u8>,
    offsets: PyReadonlyArray1<'py, i64>,
    games: PyReadonlyArray1<'py, i64>,
) -> PyResult<Bound<'py, PyArray1<u8>>> {
    let (actions, offsets, games) = (actions.as_slice()?, offsets.as_slice()?, games.as_slice()?);
    let of_game = |&game: &i64| {
        let index = usize::try_from(game).ok()?;
        let bound = |place: usize| usize::try_from(*offsets.get(place)?).ok();
        actions.get(bound(index)?..bound(index.checked_add(1)?)?)
    };
    let missing = || {
        PyIndexError::new_err("there is no such game, or the offsets are not those of the actions")
    };
    let mut length = 0;
    for game in games {
        length += of_game(game).ok_or_else(missing)?.len();
    }
    let mut taken =
        try_with_capacity(length).map_err(|error| PyMemoryError::new_err(error.to_string()))?;
    games.iter().filter_map(of_game).for_each(|turns| taken.extend_from_slice(turns));
    Ok(taken.into_pyarray(py))
}

/// Plays all games by the rules, unless the call is stopped. A thread that cannot be started leaves its games to the
/// others.
fn outcomes(games: &Recording, threads: usize) -> Result<Vec<[i32; 5]>, TryReserveError> {
    let mut rows = try_with_capacity(games.len())?;
    rows.resize(games.len(), [0; 5]);
    for_each_piece(
        rows.chunks_mut(GAMES_PER_PIECE).enumerate(),
        &mut vec![(); threads],
        |(), (index, piece)| {
            for (row, game) in piece.iter_mut().zip(index * GAMES_PER_PIECE..) {
                *row = outcome(games.game(game).play());
            }
            !is_stopped()
        },
    );
    Ok(rows)
}

/// Score, fireworks, ending, problem and turns of a game.
fn outcome(played: Result<(State, Option<MoveError>), DeckError>) -> [i32; 5] {
    let (state, problem) = match played {
        Err(DeckError::WrongStartPlayer { .. }) => return [0, 0, 0, 2, 0],
        Err(_) => return [0, 0, 0, 1, 0],
        Ok((state, None)) => (state, 0),
        Ok((state, Some(MoveError::GameOver { .. }))) => (state, 4),
        Ok((state, Some(_))) => (state, 3),
    };
    let ending = state.ending().map_or(0, rules::Ending::code);
    let fireworks: u8 = state.fireworks().iter().sum();
    [state.score().into(), fireworks.into(), ending.into(), problem, state.length() as i32]
}
