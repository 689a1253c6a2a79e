//! A set of kinds of cards in one word.

use crate::rules::cards::bit_set::bit_set;
use crate::rules::cards::select::BitIndices;

/// A set of kinds of cards of one variant. Its elements are indices of cards, see
/// [`Variant::card_index`](crate::rules::Variant::card_index).
///
/// ```
/// use starmine::rules::{CardSet, Rank, Variant};
///
/// let variant = Variant::default();
/// let is_one = |index: &usize| variant.card(*index).rank == Rank::ONE;
/// let ones: CardSet = (0..variant.num_card_kinds()).filter(is_one).collect();
/// assert!(ones.contains(variant.card_index("R1".parse()?)));
/// assert_eq!(ones.len(), 5);
/// # Ok::<(), starmine::rules::NotationError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CardSet(pub(crate) u64);

impl CardSet {
    /// Number of kinds in the set.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The set of one card.
    ///
    /// # Panics
    /// If the index is not below 64.
    #[must_use]
    pub const fn of(index: usize) -> CardSet {
        assert!(index < 64, "no card has such an index");
        CardSet(1 << index)
    }

    /// Whether the card with this index is in the set.
    #[must_use]
    pub const fn contains(self, index: usize) -> bool {
        index < 64 && self.0 >> index & 1 == 1
    }

    /// The index of the only card of a set of one.
    #[must_use]
    pub const fn single(self) -> Option<usize> {
        if self.0.is_power_of_two() { Some(self.0.trailing_zeros() as usize) } else { None }
    }

    /// The cards' indices in ascending order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = usize> {
        BitIndices(self.0)
    }
}

/// # Panics
/// If an index is not below 64.
impl FromIterator<usize> for CardSet {
    fn from_iter<I: IntoIterator<Item = usize>>(indices: I) -> CardSet {
        indices.into_iter().fold(CardSet::EMPTY, |set, index| set | CardSet::of(index))
    }
}

bit_set!(CardSet);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_index_beyond_the_word_is_taken_for_another_card() {
        let set = CardSet::of(0) | CardSet::of(63);
        assert!(set.iter().eq([0, 63]) && !set.contains(64) && !set.contains(127));
        for index in [64, 128, usize::MAX] {
            assert!(std::panic::catch_unwind(|| CardSet::of(index)).is_err());
            assert!(std::panic::catch_unwind(|| CardSet::from_iter([index])).is_err());
        }
    }
}
