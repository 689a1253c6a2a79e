//! A set of kinds of cards in one word.

use super::select::BitIndices;
use super::set_operators::set_operators;

/// A set of kinds of cards: bit `i` is the card with index `i` (see
/// [`Variant::card_index`](super::Variant::card_index)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CardSet(pub(crate) u64);

impl CardSet {
    /// No card.
    pub const EMPTY: CardSet = CardSet(0);

    /// The set of one card.
    #[must_use]
    pub const fn of(index: usize) -> CardSet {
        CardSet(1 << index)
    }

    /// Whether the card is in the set.
    #[must_use]
    pub const fn contains(self, index: usize) -> bool {
        self.0 >> index & 1 == 1
    }

    /// Number of kinds in the set.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether no card is in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether every card of this set is in the other one too.
    #[must_use]
    pub const fn is_subset(self, other: CardSet) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether the sets share a card.
    #[must_use]
    pub const fn meets(self, other: CardSet) -> bool {
        self.0 & other.0 != 0
    }

    /// The only card of a set of one.
    #[must_use]
    pub const fn single(self) -> Option<usize> {
        if self.0.is_power_of_two() { Some(self.0.trailing_zeros() as usize) } else { None }
    }

    /// The cards' indices in ascending order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        BitIndices(self.0)
    }
}

set_operators!(CardSet);

impl FromIterator<usize> for CardSet {
    fn from_iter<I: IntoIterator<Item = usize>>(indices: I) -> CardSet {
        CardSet(indices.into_iter().fold(0, |set, index| set | 1 << index))
    }
}
