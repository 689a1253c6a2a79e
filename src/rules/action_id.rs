//! The numbers of moves.

use std::fmt::{self, Display, Formatter};

/// The number of a move among those of a variant, as in HLE: discards, plays, colour hints, rank
/// hints, then announced plays.
///
/// [`Variant::action_id`](super::Variant::action_id) checks a number of another source, and
/// [`Variant::action_to_move`](super::Variant::action_to_move) gives its move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ActionId(u8);

impl ActionId {
    /// Number of ids that variants can have.
    pub const COUNT: usize = 128;

    /// The id with this index, or `None` if no variant has it.
    #[must_use]
    pub const fn new(index: usize) -> Option<ActionId> {
        if index < ActionId::COUNT { Some(ActionId(index as u8)) } else { None }
    }

    /// The index, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<ActionId> for u8 {
    fn from(action: ActionId) -> u8 {
        action.0
    }
}

impl Display for ActionId {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
