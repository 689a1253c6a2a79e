use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::card::{Rank, Suit};
use super::hint::Hint;
use super::variant::Variant;

/// What a player does in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Move {
    /// Discard the card in this slot of the own hand.
    Discard {
        /// 0 is the oldest card.
        slot: u8,
    },
    /// Play the card in this slot of the own hand.
    Play {
        /// 0 is the oldest card.
        slot: u8,
    },
    /// Play the card in this slot and announce its colour (timed display).
    AnnouncedPlay {
        /// 0 is the oldest card.
        slot: u8,
        /// The announced colour.
        suit: Suit,
    },
    /// Tell a teammate which of its cards have a colour or a rank.
    Hint {
        /// The teammate, clockwise: 1 is the next player.
        offset: u8,
        /// The colour or rank.
        hint: Hint,
    },
}

/// A set of action ids: bit `a` is action `a`. Wide enough for every variant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ActionSet(pub u128);

impl ActionSet {
    /// Whether the action is in the set.
    #[must_use]
    pub const fn contains(self, action: usize) -> bool {
        action < 128 && self.0 >> action & 1 == 1
    }

    /// Number of actions in the set.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether no action is in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The actions in ascending order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let action = rest.trailing_zeros() as usize;
            rest &= rest.wrapping_sub(1);
            (action < 128).then_some(action)
        })
    }
}

/// A move that the rules refuse.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
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
    #[error("action {action} ({meaning}) is not legal now: expected one of {legal:?}")]
    Illegal {
        /// The id that was given.
        action: usize,
        /// The move in words.
        meaning: String,
        /// The legal ids.
        legal: Vec<usize>,
    },
    /// The game is over.
    #[error("action {action} is not allowed: the game is over ({ending})")]
    GameOver {
        /// The id that was given.
        action: i64,
        /// How the game ended.
        ending: super::Ending,
    },
}

impl Variant {
    /// Computes the number of action ids, which [`Variant::num_actions`] stores.
    pub(super) const fn count_actions(&self) -> usize {
        let others = self.players() as usize - 1;
        let hints = others * (self.colors() as usize + self.ranks() as usize);
        2 * self.hand_size() as usize + hints + self.num_announced_plays()
    }

    /// Number of announced plays: one for each slot and colour.
    const fn num_announced_plays(&self) -> usize {
        if self.timed_display() { self.hand_size() as usize * self.colors() as usize } else { 0 }
    }

    /// The first id of the announced plays.
    pub(crate) const fn announced_play_base(&self) -> usize {
        self.num_actions() - self.num_announced_plays()
    }

    /// The first id of the colour hints.
    pub(crate) const fn color_hint_base(&self) -> usize {
        2 * self.hand_size() as usize
    }

    /// The first id of the rank hints.
    pub(crate) const fn rank_hint_base(&self) -> usize {
        self.color_hint_base() + (self.players() as usize - 1) * self.colors() as usize
    }

    /// The move with this id. The order is HLE's: discards, plays, colour hints, rank
    /// hints; announced plays come after them.
    ///
    /// # Errors
    /// [`MoveError::OutOfRange`] for an id that the variant does not have.
    pub fn action_to_move(&self, action: i64) -> Result<Move, MoveError> {
        let num_actions = self.num_actions();
        match usize::try_from(action) {
            Ok(index) if index < num_actions => Ok(self.tables().moves[index]),
            _ => Err(MoveError::OutOfRange { action, num_actions }),
        }
    }

    /// Computes the move of an id below [`Variant::num_actions`].
    pub(crate) fn decode(&self, action: usize) -> Move {
        let hand_size = usize::from(self.hand_size());
        if action < hand_size {
            Move::Discard { slot: action as u8 }
        } else if action < 2 * hand_size {
            Move::Play { slot: (action - hand_size) as u8 }
        } else if action < self.rank_hint_base() {
            let (other, suit) = divide(action - self.color_hint_base(), self.colors());
            Move::Hint { offset: other + 1, hint: Hint::Color(Suit::ALL[suit]) }
        } else if action < self.announced_play_base() {
            let (other, rank) = divide(action - self.rank_hint_base(), self.ranks());
            Move::Hint { offset: other + 1, hint: Hint::Rank(Rank::ALL[rank]) }
        } else {
            let (slot, suit) = divide(action - self.announced_play_base(), self.colors());
            Move::AnnouncedPlay { slot, suit: Suit::ALL[suit] }
        }
    }

    /// The id of a move, or `None` if the variant has no such move.
    #[must_use]
    pub fn move_to_action(&self, played: Move) -> Option<usize> {
        let hand_size = usize::from(self.hand_size());
        match played {
            Move::Discard { slot } | Move::Play { slot } if usize::from(slot) >= hand_size => None,
            Move::Discard { slot } => Some(usize::from(slot)),
            Move::Play { slot } => Some(hand_size + usize::from(slot)),
            Move::AnnouncedPlay { slot, suit } => {
                let known = self.timed_display()
                    && usize::from(slot) < hand_size
                    && suit.index() < self.colors().into();
                let order = usize::from(slot) * usize::from(self.colors()) + suit.index();
                known.then_some(self.announced_play_base() + order)
            }
            Move::Hint { offset, .. } if offset == 0 || offset >= self.players() => None,
            Move::Hint { offset, hint } => {
                let other = usize::from(offset) - 1;
                match hint {
                    Hint::Color(suit) if suit.index() < self.colors().into() => Some(
                        self.color_hint_base() + other * usize::from(self.colors()) + suit.index(),
                    ),
                    Hint::Rank(rank) if rank.index() < self.ranks().into() => Some(
                        self.rank_hint_base() + other * usize::from(self.ranks()) + rank.index(),
                    ),
                    _ => None,
                }
            }
        }
    }
}

fn divide(number: usize, by: u8) -> (u8, usize) {
    ((number / usize::from(by)) as u8, number % usize::from(by))
}
