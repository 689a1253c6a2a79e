//! The error for a text that names no player.

use thiserror::Error;

use crate::bots::RuleError;
use crate::nn::PolicyError;
use crate::rules::UnknownNameError;
use crate::search::SearchError;

/// A text that names no player.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlayerSpecError {
    /// No bot has this name.
    #[error(transparent)]
    Unknown(#[from] UnknownNameError),
    /// One of the rules cannot be parsed.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The policy cannot be loaded.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The noise is not a probability.
    #[error("noise={0:?} is not allowed: expected a probability from 0 to 1")]
    Noise(String),
    /// Noise without a bot, or with a player that has noise, searches or is external.
    #[error(
        "bot={0:?} is not allowed: expected a probability and a bot without noise, such as \"noisy: 0.1; smart\""
    )]
    NoisyText(String),
    /// The blueprint of a search cannot be used, or an option is unknown or has a wrong value.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// An option of a search is given twice.
    #[error("{0} is given twice in a search: expected each option once")]
    Twice(String),
}
