//! The search of one decision, and the texts of players that search.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use super::errors::StarmineError;
use super::interruptible::interruptible;
use super::numbers::{Integer, count, seed as read_seed};
use super::player::read_player;
use super::room::collect;
use super::text::Text;
use super::view::View;
use crate::search::{ActionValue, PlayerName, SearchText, Source};

/// The most threads of a search.
const THREADS: usize = 256;

/// What `_search` returns, with K legal actions and H hands:
/// - the action chosen, and the blueprint's;
/// - the legal actions, int64 (K,), and for each the mean of its scores, float64 (K,), their standard error, float64
///   (K,), the number of its roll-outs, int64 (K,), and whether it was kept, bool (K,);
/// - possible own hands, uint8 (H, slots), their probabilities, float64 (H,), and whether these are all possible hands;
/// - the turns that the blueprint does not explain.
type Found<'py> = (
    i64,
    i64,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray2<u8>>,
    Bound<'py, PyArray1<f64>>,
    bool,
    Vec<usize>,
);

/// _search(view, player, seed, threads)
///
/// Searches for the best move of the view's observer, who is to act. The player is one that searches, or its text.
///
/// Raises:
///     UnknownNameError: the text names no player.
///     VariantError: the blueprint does not play the variant.
///     StarmineError: the game is over, another seat is to act, or the player does not search.
#[pyfunction]
pub fn _search<'py>(
    py: Python<'py>,
    view: &View,
    player: &Bound<'py, PyAny>,
    seed: &Bound<'py, PyAny>,
    threads: Integer,
) -> PyResult<Found<'py>> {
    let (state, observer) = view.parts();
    if let Some(ending) = state.ending() {
        return Err(StarmineError::new_err(format!(
            "the game is over ({ending}): expected one that goes on"
        )));
    }
    let acting = state.position().current_player();
    if acting != observer {
        return Err(StarmineError::new_err(format!(
            "seat {acting} is to act: expected a turn of seat {observer}, whose view this is"
        )));
    }
    let name = match read_player("player", player)? {
        PlayerName::Search(name) => name,
        PlayerName::Bot(bot) => {
            return Err(StarmineError::new_err(format!("player={bot} does not search")));
        }
    };
    let seed = read_seed(seed)?;
    let threads = count("threads", &threads, 1..=THREADS)?;
    let variant = state.variant();
    let mut searcher = name.searcher(variant, threads)?;
    let (decision, belief) = interruptible(py, |stop| {
        searcher.follow(state, observer, seed);
        let (decision, belief) = searcher.decide(&state.view(observer), stop);
        (decision, belief.clone())
    })?;
    let action =
        |played| variant.move_to_action(played).expect("a legal move has an action") as i64;
    let values = &decision.actions;
    let floats = |read: fn(&ActionValue) -> f64| {
        collect("actions", values.len(), values.iter().map(read))
            .map(|found| found.into_pyarray(py))
    };
    let (mut cards, mut probabilities) = (Vec::new(), Vec::new());
    for (hand, probability) in belief.hands() {
        cards.extend_from_slice(hand);
        probabilities.push(probability);
    }
    let shape = [probabilities.len(), state.view(observer).hand_size(0)];
    let actions: Vec<i64> = values.iter().map(|value| action(value.played)).collect();
    let rollouts: Vec<i64> = values.iter().map(|value| value.rollouts as i64).collect();
    let kept: Vec<bool> = values.iter().map(|value| value.is_kept).collect();
    Ok((
        action(decision.chosen),
        action(decision.blueprint),
        actions.into_pyarray(py),
        floats(|value| value.mean)?,
        floats(|value| value.error)?,
        rollouts.into_pyarray(py),
        kept.into_pyarray(py),
        cards.into_pyarray(py).reshape(shape)?,
        probabilities.into_pyarray(py),
        belief.source() == Source::Exact,
        belief.unexplained().collect(),
    ))
}

/// _search_parts(player) -> tuple[str, list[tuple[str, str]]] | None
///
/// The blueprint of a player that searches, and the names and values of its options. None for the text of any other
/// player. Neither is checked, so that no policy's file is read.
#[pyfunction]
pub fn _search_parts(player: Text) -> Option<(String, Vec<(String, String)>)> {
    let SearchText { blueprint, options } = SearchText::of(&player)?;
    let options = options.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    Some((blueprint.to_owned(), options.collect()))
}

/// _may_share_table(players) -> bool
///
/// Whether players, given by their texts, may hold the seats of one table: at most one of them searches, or all that
/// do allow others to.
#[pyfunction]
pub fn _may_share_table(players: Vec<Text>) -> bool {
    let searches = players.iter().map(|player| Some(SearchText::of(player)?.in_all_seats()));
    SearchText::check_table(searches).is_ok()
}
