//! Why a search cannot be made, or cannot decide a position.

use std::fmt;

use thiserror::Error;

use crate::rules::{Ending, UnknownNameError, UnsupportedVariantError};
use crate::threads::is_stopped;

/// A search that cannot be made, or a position that it cannot decide.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The blueprint's moves are random, if only where no rule of its list applies.
    #[error(
        "blueprint={0:?} draws its moves at random: expected a bot whose moves follow from the game; in a rule list some rule must always apply, such as \"play-probably-safe 0\" as the last one"
    )]
    Random(String),
    /// The blueprint cannot value a position, which a depth needs.
    #[error(
        "depth is not allowed with blueprint={0:?}: expected a trained policy, which values positions"
    )]
    Valueless(String),
    /// The blueprint searches itself.
    #[error("blueprint={0:?} searches: expected a bot that does not")]
    Searches(String),
    /// The blueprint sees all hands.
    #[error("blueprint={0:?} sees its own hand: expected a bot that sees what its seat sees")]
    Open(String),
    /// An option may not have this value.
    #[error("{option}={value} is not allowed: expected {expected}")]
    Option {
        /// The option's name.
        option: &'static str,
        /// The refused value.
        value: String,
        /// The values that are allowed.
        expected: String,
    },
    /// There is no option of this name.
    #[error(transparent)]
    Unknown(#[from] UnknownNameError),
    /// The blueprint does not support the variant, or the search was made for another one.
    #[error(transparent)]
    Variant(#[from] UnsupportedVariantError),
    /// No move is left.
    #[error("the game is over ({0}): expected one that goes on")]
    GameOver(Ending),
    /// A signal came during a call from Python: no other caller can end a call early.
    #[doc(hidden)]
    #[error("the call was stopped")]
    Stopped,
}

impl SearchError {
    /// The error if the call is to end.
    pub(super) fn check_stop() -> Result<(), SearchError> {
        if is_stopped() { Err(SearchError::Stopped) } else { Ok(()) }
    }

    /// The error for a value that an option may not have.
    pub(crate) fn option(option: &'static str, value: impl fmt::Display, expected: &str) -> Self {
        SearchError::Option { option, value: value.to_string(), expected: expected.to_owned() }
    }
}
