//! The Python extension module `starmine._core`. Only this module knows Python.

mod arrays;
mod batch;
mod bots;
mod card;
mod claims;
mod errors;
mod event;
mod games;
mod layout;
mod numbers;
mod outputs;
mod partners;
mod policies;
mod pool;
mod rows;
mod settings;
mod state;
mod tables;
mod unpack;
mod variant;
mod view;

use pyo3::prelude::*;

use crate::rules::{Ending, Named};

/// The compiled core of starmine.
#[pymodule(gil_used = true)]
mod _core {
    #[pymodule_export]
    use super::batch::Batch;
    #[pymodule_export]
    use super::bots::{_check_bot, BotKind, RuleKind, bot, bots, rule, rules};
    #[pymodule_export]
    use super::card::Card;
    #[pymodule_export]
    use super::errors::{
        _unknown_name, ArrayError, BusyError, DeckError, IllegalActionError, NotationError,
        SerializationError, StarmineError, UnknownNameError, VariantError,
    };
    #[pymodule_export]
    use super::event::Event;
    #[pymodule_export]
    use super::layout::{Layout, Section};
    #[pymodule_export]
    use super::policies::{_Network, _policy_bytes, policies};
    #[pymodule_export]
    use super::state::State;
    #[pymodule_export]
    use super::tables::{_Tables, _play_bots};
    #[pymodule_export]
    use super::unpack::unpack_bits_into;
    #[pymodule_export]
    use super::variant::{Variant, variant, variants};
    #[pymodule_export]
    use super::view::{Knowledge, View};
    #[pymodule_export]
    use super::{encoders, endings};
}

/// Python aligns its objects to two words, whatever the type in them asks for: what needs more, as
/// vector instructions do, lies in memory of its own.
const _: () = {
    const fn fits<T>() {
        assert!(align_of::<T>() <= 2 * size_of::<usize>());
    }
    fits::<batch::Batch>();
    fits::<bots::BotKind>();
    fits::<bots::RuleKind>();
    fits::<card::Card>();
    fits::<event::Event>();
    fits::<layout::Layout>();
    fits::<layout::Section>();
    fits::<policies::_Network>();
    fits::<state::State>();
    fits::<tables::_Tables>();
    fits::<variant::Variant>();
    fits::<view::Knowledge>();
    fits::<view::View>();
};

/// encoders() -> list[str]
///
/// The names of all observation encoders.
#[pyfunction]
fn encoders() -> Vec<&'static str> {
    crate::encode::ENCODERS.iter().map(|encoder| encoder.name()).collect()
}

/// endings() -> list[str]
///
/// The names of all endings. In arrays, 0 means that the game goes on and `k` the ending
/// `endings()[k - 1]`.
#[pyfunction]
fn endings() -> Vec<&'static str> {
    Ending::ALL.iter().map(|ending| ending.name()).collect()
}
