use crate::rules::{CardSet, Variant};

/// Up to three copies of each kind of card, as two sets in one word: the low half holds the kinds
/// whose number is odd, the high half those with two or three copies. A whole set of kinds is
/// counted at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts(u64);

impl Counts {
    /// The whole deck.
    pub fn all(variant: &Variant) -> Counts {
        let tables = variant.tables();
        Counts(tables.odd_copies | tables.several_copies << 32)
    }

    /// Takes one copy of this kind away.
    pub fn remove(&mut self, kind: usize) {
        let bit = 1 << kind;
        let borrow = bit & !self.0;
        self.0 ^= bit | borrow << 32;
    }

    /// Copies of all kinds in the set together: bits are summed in pairs, nibbles and bytes, and
    /// the bytes of the high half weigh twice in the last sum.
    pub fn of(self, kinds: CardSet) -> u32 {
        let bits = self.0 & (kinds.0 | kinds.0 << 32);
        let pairs = bits - (bits >> 1 & 0x5555_5555_5555_5555);
        let nibbles = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
        let bytes = (nibbles + (nibbles >> 4)) & 0x0f0f_0f0f_0f0f_0f0f;
        (bytes.wrapping_mul(0x0101_0101_0202_0202) >> 56) as u32
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
        let mut counts = Counts::all(&variant);
        let every = CardSet(variant.tables().all_cards);
        assert_eq!(counts.of(every), 55);
        for kind in 0..25 {
            for left in (0..[3, 2, 1, 3, 2][kind % 5]).rev() {
                counts.remove(kind);
                assert_eq!(counts.of(CardSet::of(kind)), left);
            }
        }
        assert_eq!(counts.of(every), 0);
    }
}
