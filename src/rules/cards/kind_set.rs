//! A set of kinds of cards of one variant in one word.

use crate::rules::cards::bit_set::bit_set;
use crate::rules::cards::card_set::CardSet;
use crate::rules::cards::select::BitIndices;
use crate::rules::limits::MAX_RANKS;

/// A set of kinds of cards of one variant: bit `i` is the card with index `i` (see
/// [`Variant::card_index`](crate::rules::Variant::card_index)). The crate counts with it; callers get
/// [`CardSet`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct KindSet(pub(crate) u64);

impl KindSet {
    /// Number of kinds in the set.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The set of one card, whose index is below 64.
    #[must_use]
    pub(crate) const fn of(index: usize) -> KindSet {
        KindSet(1 << index)
    }

    /// The set of the cards with these indices.
    #[must_use]
    pub(crate) fn from_indices(indices: impl IntoIterator<Item = usize>) -> KindSet {
        KindSet(indices.into_iter().fold(0, |set, index| set | 1 << index))
    }

    /// Whether the card with this index, which is below 64, is in the set.
    #[must_use]
    pub(crate) const fn contains(self, index: usize) -> bool {
        self.0 >> index & 1 == 1
    }

    /// The index of the only card of a set of one.
    #[must_use]
    pub(crate) const fn single(self) -> Option<usize> {
        if self.0.is_power_of_two() { Some(self.0.trailing_zeros() as usize) } else { None }
    }

    /// The cards of these kinds, in a variant with this number of ranks.
    #[must_use]
    pub(in crate::rules) fn cards(self, ranks: usize) -> CardSet {
        CardSet(
            self.iter().fold(0, |set, kind| set | 1 << (kind / ranks * MAX_RANKS + kind % ranks)),
        )
    }

    /// The cards' indices in ascending order.
    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        BitIndices(self.0)
    }
}

bit_set!(KindSet);
