//! The Python extension module `starmine._core`. Only this module knows Python.

mod arguments;
mod arrays;
mod batch;
mod bots;
mod encode;
mod errors;
mod interruptible;
mod nn;
mod process;
mod rules;
mod search;

use numpy::PyArray1;
use pyo3::prelude::*;

use crate::batch::{ExtraOutput, Outputs};
use crate::encode::Encoder;
use crate::rules::Ending;
use arguments::text::Text;

macro_rules! core_module {
    (
        classes: { $($file:ident$(::$inner:ident)+),+ $(,)? }
        exceptions: { $($exception:ident),+ $(,)? }
        functions: { $($module:ident$(::$function:ident)+),+ $(,)? }
    ) => {
        // This module relies on the global interpreter lock, for two reasons. Calls that keep the
        // interpreter do not claim their memory (`arrays::claims`). `batch::outputs` trusts reference
        // counts to tell whether an array is in use.
        /// The compiled core of starmine.
        #[pymodule(gil_used = true)]
        mod _core {
            $(#[pymodule_export]
            use super::$file$(::$inner)+;)+
            $(#[pymodule_export]
            use super::errors::$exception;)+
            $(#[pymodule_export]
            use super::$module$(::$function)+;)+
            #[pymodule_export]
            use super::{_extra_outputs, _outputs, encoders, endings, shows_own_hand};

            #[pymodule_init]
            fn initialise(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
                super::look_up_numpy(module.py())?;
                super::process::count_forks(module.py())
            }
        }

        // Python aligns objects to two words and pyo3 asks for no more, so a class must not need more.
        const _: () = {
            $(assert!(align_of::<$file$(::$inner)+>() <= 2 * size_of::<usize>());)+
        };
    };
}

core_module! {
    classes: {
        batch::Batch,
        rules::card::Card,
        nn::color_features::_ColorFeatures,
        rules::event::Event,
        rules::knowledge::Knowledge,
        rules::moves::Move,
        nn::network::_Network,
        batch::external_partner::_ExternalPartner,
        bots::player::_Player,
        batch::replay::_Replay,
        bots::seated_bot::SeatedBot,
        rules::seen_game::_SeenGame,
        rules::state::State,
        rules::variant::Variant,
        rules::view::View,
    }
    exceptions: {
        ArrayError,
        BusyError,
        DeckError,
        IllegalActionError,
        NotationError,
        SerializationError,
        StarmineError,
        UnknownNameError,
        VariantError,
    }
    functions: {
        bots::bot_kind::_bot,
        bots::bot_kind::bots,
        errors::_unknown_name,
        bots::policies::_policy_bytes,
        bots::policies::policies,
        rules::recording::_outcomes,
        rules::recording::_take_actions,
        bots::rule_kind::_rule,
        bots::rule_kind::rules,
        search::_search,
        search::_search_parts,
        bots::seated_bot::make_bot,
        bots::play_bots::_play_bots,
        nn::pooling::_pool,
        nn::pooling::_pool_gradient,
        arrays::unpack::unpack_bits_into,
        rules::variant::_hle_preset,
        rules::variant::variant,
        rules::variant::variants,
    }
}

/// Looks up the parts of numpy's interface that this module calls. Each is looked up once, at its first
/// use, and an exception there, such as that of a signal's handler, would be a panic.
fn look_up_numpy(py: Python<'_>) -> PyResult<()> {
    py.import("numpy")?;
    drop(PyArray1::<u8>::zeros(py, [1], false));
    Ok(())
}

/// encoders() -> list[str]
///
/// The names of all observation encoders, which are the types of HLE: "canonical" (its card_knowledge),
/// "canonical-minimal" (without knowledge of cards) and "canonical-seer" (shows the observer's own hand).
#[pyfunction]
fn encoders() -> Vec<&'static str> {
    Encoder::ALL.iter().map(|encoder| encoder.name()).collect()
}

/// shows_own_hand(encoder) -> bool
///
/// Whether the observations of an encoder show the observer's own hand, which a `View` hides.
///
/// Raises:
///     UnknownNameError: there is no such encoder.
#[pyfunction]
fn shows_own_hand(encoder: Text) -> PyResult<bool> {
    Ok(encoder.parse::<Encoder>()?.shows_own_hand())
}

/// endings() -> list[str]
///
/// The names of all endings. In arrays, code k stands for `endings()[k - 1]`, and 0 for a game that
/// has not ended.
#[pyfunction]
fn endings() -> Vec<&'static str> {
    Ending::ALL.iter().map(|ending| ending.name()).collect()
}

/// _outputs() -> list[str]
///
/// The names of the outputs that every batch has, in the order of its buffers.
#[pyfunction]
fn _outputs() -> Vec<&'static str> {
    let is_extra = |name: &&'static str| name.parse::<ExtraOutput>().is_ok();
    Outputs::NAMES.iter().copied().filter(|name| !is_extra(name)).collect()
}

/// _extra_outputs() -> list[str]
///
/// The names of the optional outputs, `Batch(extra_outputs=...)`.
#[pyfunction]
fn _extra_outputs() -> Vec<&'static str> {
    ExtraOutput::ALL.iter().map(|output| output.name()).collect()
}
