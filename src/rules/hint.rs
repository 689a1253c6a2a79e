//! A hint: a colour or a rank.

use serde::{Deserialize, Serialize};

use super::card::{Card, Rank, Suit};

/// What a hint names: one colour or one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Hint {
    /// A colour hint.
    Color(Suit),
    /// A rank hint.
    Rank(Rank),
}

impl Hint {
    /// Whether the hint points out this card.
    #[must_use]
    pub fn matches(self, card: Card) -> bool {
        match self {
            Hint::Color(suit) => card.suit == suit,
            Hint::Rank(rank) => card.rank == rank,
        }
    }
}
