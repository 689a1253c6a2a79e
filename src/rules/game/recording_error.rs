//! Why games cannot be recorded or restored.

use std::collections::TryReserveError;

use thiserror::Error;

use crate::rules::cards::deck::DeckError;
use crate::rules::turns::moves::MoveError;

/// Why games cannot be recorded, or why a recorded game or a stored state cannot be restored.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// An array with more or fewer entries than the games need.
    #[error("{array} has {found} entries: expected {expected}")]
    Length {
        /// The array's name.
        array: &'static str,
        /// The number of its entries.
        found: usize,
        /// The number that is needed.
        expected: usize,
    },
    /// A game of another variant.
    #[error("the game is of another variant than the recording")]
    Variant,
    /// Memory that cannot be allocated.
    #[error("there is no memory for the games")]
    Memory(#[from] TryReserveError),
    /// A stored state of another format.
    #[error(
        "the stored state has format {found}: expected {expected}, written by this version of starmine"
    )]
    Format {
        /// The format of the state.
        found: u32,
        /// The format of this version.
        expected: u32,
    },
    /// A deck or a start player that does not fit the variant.
    #[error(transparent)]
    Deck(#[from] DeckError),
    /// An action that is not legal.
    #[error("actions[{turn}]")]
    Move {
        /// The number of turns before.
        turn: usize,
        /// Why it is refused.
        source: MoveError,
    },
    /// The ends of the games do not ascend to the number of actions.
    #[error("ends are not ascending numbers up to {actions}, the number of actions")]
    Ends {
        /// The number of actions.
        actions: usize,
    },
}
