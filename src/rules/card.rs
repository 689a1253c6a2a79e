//! A card: its suit and its rank.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::limits::{MAX_COLORS, MAX_RANKS};

/// The suit of a card, counted from 0 in HLE's order: red, yellow, green, white, blue, then
/// multicoloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Suit(u8);

/// The rank of a card, counted from 0 as in HLE; text shows ranks from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Rank(u8);

/// A card: a suit and a rank.
///
/// ```
/// use starmine::rules::{Card, Rank, Suit};
///
/// let card: Card = "G3".parse()?;
/// assert_eq!(card, Card::new(Suit::ALL[2], Rank::ALL[2]));
/// assert_eq!(card.to_string(), "G3");
/// assert!("G6".parse::<Card>().is_err() && Rank::try_from(5).is_err());
/// # Ok::<(), starmine::rules::NotationError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Card {
    /// The suit, from 0.
    pub suit: Suit,
    /// The rank, from 0.
    pub rank: Rank,
}

/// A number that is not the index of a suit or a rank.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{kind} {index} is not allowed: expected 0 to {}", count - 1)]
pub struct IndexError {
    kind: &'static str,
    index: u8,
    count: usize,
}

impl IndexError {
    /// The number that was given.
    #[must_use]
    pub const fn index(&self) -> u8 {
        self.index
    }

    /// The number of indices, which are counted from 0.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }
}

macro_rules! small_index {
    ($type:ident, $count:expr, $kind:literal) => {
        impl $type {
            /// All values in order, including those that smaller variants do not use.
            pub const ALL: [$type; $count] = {
                let mut all = [$type(0); $count];
                let mut index = 0;
                while index < $count {
                    all[index] = $type(index as u8);
                    index += 1;
                }
                all
            };

            /// The value with this index, or `None` if no variant has it.
            #[must_use]
            pub const fn new(index: u8) -> Option<$type> {
                if (index as usize) < $count { Some($type(index)) } else { None }
            }

            /// The index, from 0.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl TryFrom<u8> for $type {
            type Error = IndexError;

            fn try_from(index: u8) -> Result<$type, IndexError> {
                $type::new(index).ok_or(IndexError { kind: $kind, index, count: $count })
            }
        }

        impl From<$type> for u8 {
            fn from(value: $type) -> u8 {
                value.0
            }
        }
    };
}

small_index!(Suit, MAX_COLORS, "suit");
small_index!(Rank, MAX_RANKS, "rank");

impl Card {
    /// The card of this suit and rank.
    #[must_use]
    pub const fn new(suit: Suit, rank: Rank) -> Card {
        Card { suit, rank }
    }
}
