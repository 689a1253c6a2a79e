//! Games among bots, and what Python gets of whole games: their outcomes and their turns, as arrays.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use super::player::read_player;
use crate::bindings::arguments::listed::Listed;
use crate::bindings::arguments::numbers::{Integer, count, seed as read_seed};
use crate::bindings::arrays::copies::integers;
use crate::bindings::arrays::vectors::collect;
use crate::bindings::errors::StarmineError;
use crate::bindings::interruptible::interruptible;
use crate::bindings::rules::variant::read_variant;
use crate::bots::{
    GamesOptions, Outcome, PlayedGames, Player, TurnValues, check_number, play_listed_games,
};
use crate::players::PlayerSpec;
use crate::rules::{self, Recording};

/// The most games of one call, and the highest index of the first.
const GAMES: usize = u32::MAX as usize;

/// The players by seat as Python gives them: loaded players or their texts, and `None` for a seat that Python plays.
pub type GivenPlayers<'py> = Listed<Option<Bound<'py, PyAny>>>;

/// Reads the players by seat, all of whom play the variant.
pub fn read_players(
    variant: &rules::Variant,
    given: &GivenPlayers<'_>,
) -> PyResult<Vec<PlayerSpec>> {
    check_number(variant, given.len())?;
    let read = |(seat, given): (usize, &Option<Bound<'_, PyAny>>)| match given {
        Some(given) => read_player(&format!("players[{seat}]"), given),
        None => Ok(PlayerSpec::external()),
    };
    let specs: Vec<PlayerSpec> = given.iter().enumerate().map(read).collect::<PyResult<_>>()?;
    for spec in &specs {
        spec.player(variant)?;
    }
    Ok(specs)
}

/// The numbers of the games to play: `listed`, or else `games` numbers from `first` on.
pub fn read_games(
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

/// Scores, fireworks and endings, each uint8 (games,).
type OutcomeArrays<'py> =
    (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<u8>>);

fn outcome_arrays<'py>(py: Python<'py>, outcomes: &[Outcome]) -> PyResult<OutcomeArrays<'py>> {
    let array = |read: fn(&Outcome) -> u8| {
        let values = outcomes.iter().map(read);
        Ok::<_, PyErr>(collect("games", outcomes.len(), values)?.into_pyarray(py))
    };
    Ok((
        array(|outcome| outcome.score)?,
        array(|outcome| outcome.fireworks)?,
        array(|outcome| outcome.ending.code() as u8)?,
    ))
}

/// Decks uint8 (games, deck_size), start players uint8 (games,), actions uint8 (turns,) and offsets
/// int64 (games + 1,).
pub type RecordingTuple<'py> = (
    Bound<'py, PyArray2<u8>>,
    Bound<'py, PyArray1<u8>>,
    Bound<'py, PyArray1<u8>>,
    Bound<'py, PyArray1<i64>>,
);

pub fn recording_tuple<'py>(
    py: Python<'py>,
    recording: Recording,
) -> PyResult<RecordingTuple<'py>> {
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

fn value_arrays<'py>(
    py: Python<'py>,
    variant: &rules::Variant,
    values: TurnValues,
) -> PyResult<ValueArrays<'py>> {
    let shape = [values.means.len() / variant.num_actions(), variant.num_actions()];
    let array = |numbers: Vec<f32>| numbers.into_pyarray(py).reshape(shape);
    Ok((array(values.means)?, array(values.standard_errors)?))
}

/// _play_bots(variant, players, games, seed, first_game, num_threads, listed=None)
///
/// Plays games among bots: those from the first one, or those whose numbers are listed, uint64.
///
/// Returns:
///     Scores, fireworks and endings, each uint8 (games,); decks uint8 (games, deck_size), start players uint8 (games,),
///     actions uint8 (turns,) and offsets int64 (games + 1,); and, if a bot searches, the means and the standard
///     errors of the values of all actions, each float32 (turns, actions), NaN where there are none, else None.
#[pyfunction]
#[pyo3(signature = (variant, players, games, seed, first_game, num_threads, listed=None))]
#[expect(clippy::too_many_arguments, reason = "each is an argument in Python")]
pub fn _play_bots<'py>(
    py: Python<'py>,
    variant: &Bound<'py, PyAny>,
    players: GivenPlayers<'py>,
    games: Integer,
    seed: &Bound<'py, PyAny>,
    first_game: Integer,
    num_threads: Integer,
    listed: Option<&Bound<'py, PyAny>>,
) -> PyResult<(OutcomeArrays<'py>, RecordingTuple<'py>, Option<ValueArrays<'py>>)> {
    let variant = read_variant(variant)?;
    let specs = read_players(&variant, &players)?;
    let players = specs.iter().map(|spec| Ok(spec.player(&variant)?));
    let players: Vec<Player> = players.collect::<PyResult<_>>()?;
    let (seed, games) = (read_seed(seed)?, read_games(&first_game, &games, listed)?);
    let num_threads = count("num_threads", &num_threads, 1..=crate::batch::MAX_THREADS)?;
    let options = GamesOptions { seed, num_threads };
    let played = interruptible(py, || play_listed_games(&variant, &players, &games, options))?;
    let PlayedGames { outcomes, recording, turn_values: values } = played?;
    let values = values.map(|values| value_arrays(py, &variant, values)).transpose()?;
    Ok((outcome_arrays(py, &outcomes)?, recording_tuple(py, recording)?, values))
}
