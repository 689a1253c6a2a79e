use crate::rules::{CardSet, Variant};

/// Up to three copies of each kind of card, as the two binary digits of all numbers side by side:
/// a whole set of kinds is counted at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// The kinds with one or three copies.
    ones: u64,
    /// The kinds with two or three copies.
    twos: u64,
}

impl Counts {
    /// The whole deck.
    pub fn all(variant: &Variant) -> Counts {
        let tables = variant.tables();
        Counts { ones: tables.odd_copies, twos: tables.several_copies }
    }

    /// One copy more of this kind.
    #[inline]
    pub fn add(&mut self, kind: usize) {
        let carry = self.ones & 1 << kind;
        self.ones ^= 1 << kind;
        self.twos ^= carry;
    }

    /// What is left without those.
    #[inline]
    pub fn minus(self, other: Counts) -> Counts {
        let borrow = !self.ones & other.ones;
        Counts { ones: self.ones ^ other.ones, twos: self.twos ^ other.twos ^ borrow }
    }

    /// The copies of plausible kinds that are wanted, and all of them, as words of which
    /// [`Counts::shares`] takes the numbers of bits.
    #[inline]
    pub fn words(self, plausible: CardSet, wanted: CardSet) -> [u64; 4] {
        let CardSet(good) = plausible & wanted;
        let CardSet(all) = plausible;
        [self.ones & good, self.twos & good, self.ones & all, self.twos & all]
    }

    /// How many copies are wanted, and how many there are, from the bits of [`Counts::words`].
    #[inline]
    pub fn shares([good_ones, good_twos, ones, twos]: [u32; 4]) -> [u32; 2] {
        [good_ones + 2 * good_twos, ones + 2 * twos]
    }

    /// Copies of all kinds in the set together.
    #[cfg(test)]
    pub fn of(self, kinds: CardSet) -> u32 {
        Counts::shares(self.words(kinds, kinds).map(u64::count_ones))[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Parameters;

    #[test]
    fn copies_are_counted_and_taken_away() {
        let copies = Some(vec![vec![3, 2, 1, 3, 2]; 5]);
        let parameters = Parameters { colors: 5, copies, ..Parameters::default() };
        let variant = Variant::new(parameters).unwrap();
        let (deck, mut gone) = (Counts::all(&variant), Counts::default());
        let every = CardSet(variant.tables().all_cards);
        assert_eq!(deck.of(every), 55);
        for kind in 0..25 {
            for left in (0..[3, 2, 1, 3, 2][kind % 5]).rev() {
                gone.add(kind);
                assert_eq!(deck.minus(gone).of(CardSet::of(kind)), left);
            }
        }
        assert_eq!(deck.minus(gone), Counts::default());
        assert_eq!(gone.of(every), 55);
    }
}
