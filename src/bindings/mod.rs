//! The Python extension module `starmine._core`. Only this module knows Python.

mod batch;
mod batch_copies;
mod batch_into;
mod batch_last;
mod batch_outside;
mod batch_properties;
mod batch_settings;
mod bot_kind;
mod card;
mod color_features;
mod errors;
mod event;
mod features;
mod integer_arrays;
mod interruptible;
mod keywords;
mod knowledge;
mod layout;
mod memory;
mod moves;
mod network;
mod numbers;
mod outputs;
mod outside;
mod parameters;
mod player;
mod policies;
mod process;
mod recording;
mod replay;
mod room;
mod rule_kind;
mod search;
mod seated_bot;
mod section;
mod seen;
mod small_numbers;
mod state;
mod tables;
mod text;
mod towers;
mod unpack;
mod variant;
mod view;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;

use crate::batch::{ExtraOutput, Outputs};
use crate::rules::{Ending, Named};

macro_rules! core_module {
    (
        classes: { $($file:ident::$class:ident),+ $(,)? }
        exceptions: { $($exception:ident),+ $(,)? }
        functions: { $($module:ident::$function:ident),+ $(,)? }
    ) => {
        /// The compiled core of starmine.
        #[pymodule(gil_used = true)]
        mod _core {
            $(#[pymodule_export]
            use super::$file::$class;)+
            $(#[pymodule_export]
            use super::errors::$exception;)+
            $(#[pymodule_export]
            use super::$module::$function;)+
            #[pymodule_export]
            use super::{_extra_outputs, _outputs, encoders, endings};

            #[pymodule_init]
            fn initialise(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
                super::look_up_numpy(module.py())?;
                super::process::count_forks(module.py())
            }
        }

        // Python aligns objects to two words and pyo3 asks for no more, so a class must not need more.
        const _: () = {
            $(assert!(align_of::<$file::$class>() <= 2 * size_of::<usize>());)+
        };
    };
}

core_module! {
    classes: {
        batch::Batch,
        bot_kind::BotKind,
        card::Card,
        color_features::_ColorFeatures,
        event::Event,
        knowledge::Knowledge,
        layout::Layout,
        moves::Move,
        network::_Network,
        outside::_Outside,
        player::_Player,
        replay::_Replay,
        rule_kind::RuleKind,
        seated_bot::SeatedBot,
        section::Section,
        state::State,
        tables::_Tables,
        variant::Variant,
        view::View,
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
        bot_kind::bot,
        bot_kind::bots,
        errors::_unknown_name,
        keywords::_unknown_keyword,
        policies::_policy_bytes,
        policies::policies,
        recording::_outcomes,
        rule_kind::rule,
        rule_kind::rules,
        search::_may_share_table,
        search::_search,
        search::_search_parts,
        search::_search_text,
        seated_bot::make_bot,
        tables::_play_bots,
        towers::_pool,
        towers::_pool_gradient,
        unpack::unpack_bits_into,
        variant::_hle_preset,
        variant::variant,
        variant::variants,
    }
}

/// Looks up the parts of numpy's interface that this module calls. Each is looked up once, at its first
/// use, and an exception there, such as that of a signal's handler, would be a panic.
fn look_up_numpy(py: Python<'_>) -> PyResult<()> {
    py.import("numpy")?;
    drop(PyArray1::<u8>::zeros(py, [1], false).try_readonly()?);
    Ok(())
}

/// encoders() -> list[str]
///
/// The names of all observation encoders.
#[pyfunction]
fn encoders() -> Vec<&'static str> {
    crate::encode::ENCODERS.iter().map(|encoder| encoder.name()).collect()
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
    let is_extra = |name: &&'static str| ExtraOutput::from_name(name).is_ok();
    Outputs::NAMES.iter().copied().filter(|name| !is_extra(name)).collect()
}

/// _extra_outputs() -> list[str]
///
/// The names of the optional outputs, `Batch(extra_outputs=...)`.
#[pyfunction]
fn _extra_outputs() -> Vec<&'static str> {
    ExtraOutput::ALL.iter().map(|output| output.name()).collect()
}
