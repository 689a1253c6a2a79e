//! The search of one decision, and the texts of players that search.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use crate::bindings::arguments::numbers::{Integer, count, seed as read_seed};
use crate::bindings::arguments::text::Text;
use crate::bindings::arrays::vectors::collect;
use crate::bindings::bots::player::read_player;
use crate::bindings::errors::StarmineError;
use crate::bindings::interruptible::interruptible;
use crate::bindings::rules::view::View;
use crate::bots::MoveValue;
use crate::players::SearchText;
use crate::rules::{self, Offset};
use crate::search::{BlueprintBelief, Decision, SearchOptions};

/// What `_search` returns, with K legal actions and H hands:
/// - the action chosen, and the blueprint's;
/// - the legal actions, int64 (K,), and for each the mean of its scores, float64 (K,), their standard error, float64
///   (K,), the number of its roll-outs, int64 (K,), and whether it was kept, bool (K,);
/// - possible own hands, uint8 (H, slots), their probabilities, float64 (H,), and whether these are all possible hands;
/// - the turns that the blueprint does not explain.
type SearchArrays<'py> = (
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

/// _search(view, blueprint, *, rollouts, milliseconds, hands, depth, threshold, method, step, seed, num_threads)
///
/// Searches for the best move of the view's observer, who is to act. The options are those of `starmine.search`.
///
/// Raises:
///     UnknownNameError: no bot has the blueprint's name.
///     VariantError: the blueprint does not play the variant.
///     TypeError: an option of the wrong type.
///     StarmineError: the game is over, another seat is to act, an option is out of range, or the blueprint cannot be
///         searched with.
#[pyfunction]
#[pyo3(signature = (view, blueprint, *, rollouts, milliseconds, hands, depth, threshold, method, step, seed, num_threads))]
#[expect(clippy::too_many_arguments, reason = "each is an argument in Python")]
#[expect(clippy::needless_pass_by_value, reason = "arguments from Python are owned")]
pub fn _search<'py>(
    py: Python<'py>,
    view: &View,
    blueprint: &Bound<'py, PyAny>,
    rollouts: Integer,
    milliseconds: Option<Integer>,
    hands: Integer,
    depth: Option<Integer>,
    threshold: Option<f64>,
    method: Text,
    step: Option<f64>,
    seed: &Bound<'py, PyAny>,
    num_threads: Integer,
) -> PyResult<SearchArrays<'py>> {
    check_turn(view)?;
    let given = [
        ("rollouts", Some(rollouts.to_string())),
        ("milliseconds", milliseconds.map(|number| number.to_string())),
        ("hands", Some(hands.to_string())),
        ("depth", depth.map(|number| number.to_string())),
        ("threshold", threshold.map(|number| number.to_string())),
        ("method", Some(method.to_string())),
        ("step", step.map(|number| number.to_string())),
    ];
    let given = given.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?)));
    let options = SearchOptions::read(&given.collect::<Vec<_>>())?;
    let num_threads = count("num_threads", &num_threads, 1..=crate::batch::MAX_THREADS)?;
    let blueprint = read_player("blueprint", blueprint)?;
    let spec = blueprint.with_search(SearchOptions { num_threads, ..options })?;
    let seed = read_seed(seed)?;
    let (state, observer) = view.parts();
    let variant = state.variant();
    let searcher = spec.searcher(variant)?;
    let searcher = searcher.expect("the player searches");
    let (decision, belief) = interruptible(py, || searcher.decide(state, seed))??;
    arrays(py, &state.view(observer), &decision, &belief)
}

/// Checks that the observer of a view is to act.
fn check_turn(view: &View) -> PyResult<()> {
    let (state, observer) = view.parts();
    if let Some(ending) = state.ending() {
        return Err(StarmineError::new_err(format!(
            "the game is over ({ending}): expected one that goes on"
        )));
    }
    let acting = state.current_player();
    if acting != observer {
        return Err(StarmineError::new_err(format!(
            "seat {acting} is to act: expected a turn of seat {observer}, whose view this is"
        )));
    }
    Ok(())
}

/// A decision and the belief about the seat's own hand as numbers and arrays.
fn arrays<'py>(
    py: Python<'py>,
    view: &rules::View<'_>,
    decision: &Decision,
    belief: &BlueprintBelief,
) -> PyResult<SearchArrays<'py>> {
    let action = |played| {
        let action = view.variant().move_to_action(played).expect("a legal move has an action");
        i64::from(u8::from(action))
    };
    let moves = &decision.moves;
    let floats = |read: fn(&MoveValue) -> f64| {
        let floats = collect("actions", moves.len(), moves.iter().map(read))?;
        Ok::<_, PyErr>(floats.into_pyarray(py))
    };
    let (mut cards, mut probabilities) = (Vec::new(), Vec::new());
    for (hand, probability) in belief.hand_indices() {
        cards.extend_from_slice(hand);
        probabilities.push(probability);
    }
    let shape = [probabilities.len(), view.hand_size(Offset::OWN)];
    let actions: Vec<i64> = moves.iter().map(|value| action(value.candidate)).collect();
    let rollouts: Vec<i64> = moves.iter().map(|value| value.games as i64).collect();
    let kept: Vec<bool> = moves.iter().map(|value| value.is_kept).collect();
    Ok((
        action(decision.chosen),
        action(decision.blueprint),
        actions.into_pyarray(py),
        floats(|value| value.mean)?,
        floats(|value| value.standard_error)?,
        rollouts.into_pyarray(py),
        kept.into_pyarray(py),
        cards.into_pyarray(py).reshape(shape)?,
        probabilities.into_pyarray(py),
        belief.is_exact(),
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
