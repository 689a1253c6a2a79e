//! Moves, action ids and sets of them, and the errors of moves that the rules refuse.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::rules::cards::bit_set::bit_set;
use crate::rules::cards::card::Suit;
use crate::rules::small_index::{Offset, Slot, numbered};
use crate::rules::turns::hint::Hint;

/// What a player does in a turn.
///
/// A move has a text form. Each move of a variant has an [`ActionId`], in the order of HLE.
///
/// ```
/// use starmine::rules::{Hint, Move, Offset, Parameters, Suit, Variant};
///
/// let hint = Move::Hint { offset: Offset::NEXT, hint: Hint::Color(Suit::RED) };
/// assert_eq!(hint.to_string(), "hint +1 red");
/// assert_eq!("hint +1 red".parse::<Move>(), Ok(hint));
///
/// let variant = Variant::new(Parameters::default())?;
/// let action = variant.move_to_action(hint).expect("the variant has red cards");
/// assert_eq!((action.index(), variant.action_to_move(action)), (10, Ok(hint)));
/// # Ok::<(), starmine::rules::VariantError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Move {
    /// Discard the card in this slot of the player's own hand.
    Discard {
        /// The slot.
        slot: Slot,
    },
    /// Play the card in this slot of the player's own hand.
    Play {
        /// The slot.
        slot: Slot,
    },
    /// Play the card in this slot and announce its colour (timed display).
    AnnouncedPlay {
        /// The slot.
        slot: Slot,
        /// The announced colour.
        suit: Suit,
    },
    /// Tell a teammate which of its cards have a colour or a rank.
    Hint {
        /// The teammate.
        offset: Offset,
        /// The colour or rank.
        hint: Hint,
    },
}

impl Move {
    /// The slot that a play or a discard empties; `None` for a hint.
    #[must_use]
    pub const fn slot(self) -> Option<Slot> {
        match self {
            Move::Discard { slot } | Move::Play { slot } | Move::AnnouncedPlay { slot, .. } => {
                Some(slot)
            }
            Move::Hint { .. } => None,
        }
    }
}

numbered!(
    /// The number of a move among those of a variant, as in HLE: discards, plays, colour hints, rank
    /// hints, then announced plays.
    ///
    /// [`Variant::action_id`](crate::rules::Variant::action_id) checks a number of another source, and
    /// [`Variant::action_to_move`](crate::rules::Variant::action_to_move) gives its move.
    ActionId,
    128,
    "action"
);

impl From<ActionId> for i64 {
    fn from(action: ActionId) -> i64 {
        u8::from(action).into()
    }
}

/// A set of action ids: bit `a` is action `a`. Wide enough for every variant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ActionSet(pub(crate) u128);

impl ActionSet {
    /// Whether the action is in the set.
    #[must_use]
    pub const fn contains(self, action: ActionId) -> bool {
        self.0 >> action.index() & 1 == 1
    }

    /// Number of actions in the set.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The actions in ascending order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = ActionId> + Clone {
        ActionIter(self)
    }

    /// The set as bits: bit `a` is action `a`.
    #[must_use]
    pub const fn bits(self) -> u128 {
        self.0
    }
}

bit_set!(ActionSet);

/// The actions that are left of a set.
#[derive(Clone)]
struct ActionIter(ActionSet);

impl Iterator for ActionIter {
    type Item = ActionId;

    fn next(&mut self) -> Option<ActionId> {
        let ActionIter(ActionSet(left)) = self;
        if *left == 0 {
            return None;
        }
        let action = ActionId::new_unchecked(left.trailing_zeros() as usize);
        *left &= *left - 1;
        Some(action)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), Some(self.0.len()))
    }
}

impl ExactSizeIterator for ActionIter {}

/// A move that the rules refuse.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MoveError {
    /// The action id is not one of the variant's.
    #[error("action {action} is not allowed: expected 0 to {}", num_actions - 1)]
    OutOfRange {
        /// The id that was given.
        action: i64,
        /// The number of ids.
        num_actions: usize,
    },
    /// The move is not legal now.
    #[error("action {action} ({meaning}) is not legal now: expected one of {expected}")]
    Illegal {
        /// The id that was given.
        action: ActionId,
        /// The move.
        played: Move,
        /// The move in words.
        meaning: String,
        /// The legal ids.
        legal: ActionSet,
        /// The legal ids with their moves in words.
        expected: String,
    },
    /// The variant has no such move.
    #[error("{meaning} is not a move of this variant")]
    NoMove {
        /// The move.
        played: Move,
        /// The move in words.
        meaning: String,
    },
    /// The game is over.
    #[error("action {action} is not allowed: the game is over ({ending})")]
    GameOver {
        /// The id that was given.
        action: i64,
        /// How the game ended.
        ending: crate::rules::Ending,
    },
}
