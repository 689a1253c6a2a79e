//! The number of copies of every kind of card, for a whole set of kinds at once.

use super::base_game;
use crate::rules::{CardSet, Variant, bit_counts};

/// 0 to 3 copies of each kind, bit-sliced: the two binary digits of all counts side by side. All bots
/// count copies with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::bots) struct CopyCounts {
    /// The kinds with one or three copies.
    ones: u64,
    /// The kinds with two or three copies.
    twos: u64,
}

impl CopyCounts {
    /// The deck of the base game.
    pub const BASE_GAME: CopyCounts = CopyCounts {
        ones: base_game::LOWEST.0 | base_game::HIGHEST.0,
        twos: base_game::ALL.0 & !base_game::HIGHEST.0,
    };

    /// The deck of a variant.
    pub fn of_deck(variant: &Variant) -> CopyCounts {
        let tables = variant.tables();
        CopyCounts { ones: tables.copies_ones, twos: tables.copies_twos }
    }

    /// Adds one copy of each of these kinds, of which there must be fewer than three.
    #[inline]
    pub fn add(&mut self, kinds: CardSet) {
        self.twos ^= self.ones & kinds.0;
        self.ones ^= kinds.0;
    }

    /// Adds one copy of each of these kinds, except where there are three.
    pub fn add_up_to_three(&mut self, kinds: CardSet) {
        self.add(CardSet(kinds.0 & !(self.ones & self.twos)));
    }

    /// Removes one copy of each of these kinds, of which there must be at least one.
    #[inline]
    pub fn remove(&mut self, kinds: CardSet) {
        self.twos ^= kinds.0 & !self.ones;
        self.ones ^= kinds.0;
    }

    /// The difference, which must not be negative for any kind.
    #[inline]
    pub fn minus(self, other: CopyCounts) -> CopyCounts {
        let borrow = !self.ones & other.ones;
        CopyCounts { ones: self.ones ^ other.ones, twos: self.twos ^ other.twos ^ borrow }
    }

    /// The kinds of which this has at least as many copies as `other`.
    pub const fn at_least(self, other: CopyCounts) -> CardSet {
        let (more, fewer) = (self.twos & !other.twos, other.twos & !self.twos);
        CardSet(more | !fewer & (self.ones | !other.ones))
    }

    /// The kinds with at least one copy.
    pub const fn at_least_one(self) -> CardSet {
        CardSet(self.ones | self.twos)
    }

    /// The kinds with exactly one copy.
    pub const fn exactly_one(self) -> CardSet {
        CardSet(self.ones & !self.twos)
    }

    /// Removes one copy of a kind, if there is one.
    pub fn remove_if_left(&mut self, kind: usize) {
        self.remove(CardSet::of(kind) & self.at_least_one());
    }

    /// The copies of all kinds in each of the sets together.
    #[inline]
    pub fn totals<const SETS: usize>(self, sets: [CardSet; SETS]) -> [u32; SETS] {
        let counts = |digits: u64| bit_counts(&sets.map(|kinds| kinds.0 & digits));
        let (ones, twos) = (counts(self.ones), counts(self.twos));
        std::array::from_fn(|index| ones[index] + 2 * twos[index])
    }

    /// The copies of all kinds in the set together.
    #[inline]
    pub const fn total(self, kinds: CardSet) -> u32 {
        (self.ones & kinds.0).count_ones() + 2 * (self.twos & kinds.0).count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Parameters;

    #[test]
    fn copies_are_counted_and_subtracted() {
        let copies = Some(vec![vec![3, 2, 1, 3, 2]; 5]);
        let parameters = Parameters { colors: 5, copies, ..Parameters::default() };
        let variant = Variant::new(parameters).unwrap();
        let (deck, mut gone) = (CopyCounts::of_deck(&variant), CopyCounts::default());
        let every = CardSet(variant.tables().all_cards);
        assert_eq!(deck.total(every), 55);
        for kind in 0..25 {
            for left in (0..[3, 2, 1, 3, 2][kind % 5]).rev() {
                gone.add(CardSet::of(kind));
                assert_eq!(deck.minus(gone).total(CardSet::of(kind)), left);
                assert_eq!(gone.at_least(deck).contains(kind), left == 0);
            }
        }
        assert_eq!(deck.minus(gone), CopyCounts::default());
        assert_eq!(gone.total(every), 55);
        gone.add_up_to_three(CardSet::of(0));
        assert_eq!(gone.total(every), 55);
    }

    #[test]
    fn a_set_of_kinds_is_counted_at_once() {
        let variant = Variant::new(Parameters::default()).unwrap();
        assert_eq!(CopyCounts::BASE_GAME, CopyCounts::of_deck(&variant));
        let mut counts = CopyCounts::BASE_GAME;
        let kinds = CardSet::of(0) | CardSet::of(4) | CardSet::of(7);
        counts.remove(kinds);
        assert!(!counts.at_least_one().contains(4));
        assert!(counts.total(CardSet::of(0)) == 2 && counts.exactly_one().contains(7));
        counts.add(kinds);
        assert_eq!(counts, CopyCounts::BASE_GAME);
    }
}
