//! A hint: a colour or a rank.

use serde::{Deserialize, Serialize};

use crate::rules::cards::card::{Card, Rank, Suit};
use crate::rules::cards::slot_set::SlotSet;
use crate::rules::limits::MAX_HAND_SIZE;

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

    /// The slots of a hand, the oldest card first, whose cards the hint points out. Cards beyond
    /// [`MAX_HAND_SIZE`] are ignored.
    pub fn touched(self, hand: impl IntoIterator<Item = Card>) -> SlotSet {
        let touch = |set, (slot, card)| set | u8::from(self.matches(card)) << slot;
        SlotSet(hand.into_iter().take(MAX_HAND_SIZE).enumerate().fold(0, touch))
    }
}
