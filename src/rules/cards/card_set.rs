//! A set of kinds of cards that holds for every variant.

use crate::rules::cards::bit_set::{bit_set, set_of};
use crate::rules::cards::card::{Card, Rank, Suit};
use crate::rules::cards::select::BitIndices;
use crate::rules::limits::MAX_RANKS;

/// A set of kinds of cards, by suit and then by rank.
///
/// ```
/// use starmine::rules::{Card, CardSet, Rank, Suit};
///
/// let red: CardSet = Rank::ALL.into_iter().map(|rank| Card::new(Suit::RED, rank)).collect();
/// assert!(red.contains(Card::new(Suit::RED, Rank::ALL[4])));
/// assert_eq!(red.len(), 5);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CardSet(pub(in crate::rules) u32);

impl CardSet {
    /// Whether the set has a card of this suit and rank.
    #[must_use]
    pub const fn contains(self, card: Card) -> bool {
        self.0 >> card.index() & 1 == 1
    }

    /// Number of kinds in the set.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The cards, by suit and then by rank.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Card> {
        BitIndices(self.0.into()).map(card_at)
    }
}

impl From<Card> for CardSet {
    fn from(card: Card) -> CardSet {
        CardSet(1 << card.index())
    }
}

impl Card {
    /// The place of the card in a [`CardSet`].
    const fn index(self) -> usize {
        self.suit.index() * MAX_RANKS + self.rank.index()
    }
}

fn card_at(index: usize) -> Card {
    Card::new(Suit::ALL[index / MAX_RANKS], Rank::ALL[index % MAX_RANKS])
}

bit_set!(CardSet);
set_of!(CardSet, Card, card_at);
