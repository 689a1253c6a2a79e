//! Sets of copies of the base game's 50 cards. A count of bits weighs each kind of card by its
//! remaining copies.

use crate::bots::base_game::{self, HIGHEST, LOWEST, RANKS, SUITS};
use crate::rules::{CardSet, Hint, Outlook, bit_set};

/// Kinds of cards in the base game.
const KINDS: usize = SUITS * RANKS;

/// A set of copies. The first copies are the lowest 25 bits, by card index; the second copies are
/// the next 25. A highest rank has no second copy: its bit there stands for the third copy of the
/// suit's lowest rank. The first copy is always removed last, so the lowest 25 bits are the kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Copies(u64);

impl Copies {
    pub const ALL: Copies = Copies::of(base_game::ALL);

    /// Every copy of these kinds.
    pub const fn of(kinds: CardSet) -> Copies {
        let thirds = (kinds.0 & LOWEST.0) << (RANKS - 1);
        Copies(kinds.0 | (kinds.0 & !HIGHEST.0 | thirds) << KINDS)
    }

    /// Every copy of the kinds that match a hint.
    pub const fn matching(hint: Hint) -> Copies {
        Copies::of(base_game::of_hint(hint))
    }

    /// Removes one copy of a kind, if there is one; the first copy last.
    pub fn remove(&mut self, kind: usize) {
        let held = self.0 & Copies::of(CardSet::of(kind)).0;
        self.0 &= !(held & (1 << 63) >> held.leading_zeros().min(63));
    }

    /// The number of copies, which is the weight of the set.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether the set is not empty and every copy is in the other set too.
    pub const fn is_certainly(self, other: Copies) -> bool {
        self.0 != 0 && self.is_subset(other)
    }

    /// The kinds with at least one copy.
    pub const fn kinds(self) -> CardSet {
        CardSet(self.0 & base_game::ALL.0)
    }

    /// Whether all are copies of one kind.
    pub const fn is_one_kind(self) -> bool {
        self.kinds().0.is_power_of_two()
    }

    /// The sum of the copies' ranks, counted from 1.
    pub fn rank_sum(self) -> u32 {
        let copies_of = |kind: usize| (self & Copies::of(CardSet::of(kind))).len();
        self.kinds().iter().map(|kind| copies_of(kind) * (kind % RANKS + 1) as u32).sum()
    }

    /// The suits of the copies: one bit each.
    pub const fn suits(self) -> Traits {
        let kinds = self.kinds().0;
        // The lower bits of a suit carry into its highest one if any of them is set.
        let lower = base_game::ALL.0 & !HIGHEST.0;
        let set = (((kinds & lower) + lower) | kinds) & HIGHEST.0;
        // Subtracting one from each suit that occurs clears its lowest kind, and sets only bits
        // below it.
        let more = kinds & (kinds - (set >> (RANKS - 1)));
        Traits { set, are_distinct: more == 0 }
    }

    /// The ranks of the copies: one bit each.
    pub const fn ranks(self) -> Traits {
        const ONE_SUIT: u64 = (1 << RANKS) - 1;
        const TWO_SUITS: u64 = (1 << (2 * RANKS)) - 1;
        let kinds = self.kinds().0;
        let (low, high) = (kinds & TWO_SUITS, kinds >> (2 * RANKS) & TWO_SUITS);
        let four = low | high;
        let (even, odd) = (four & ONE_SUIT, four >> RANKS);
        let last = kinds >> (4 * RANKS);
        let twice = low & high | even & odd | (even | odd) & last;
        Traits { set: even | odd | last, are_distinct: twice == 0 }
    }
}

bit_set!(Copies);

/// The suits, or the ranks, of a set of kinds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traits {
    /// One bit for each suit or rank.
    pub set: u64,
    /// Whether no two kinds share a suit or rank.
    pub are_distinct: bool,
}

/// A [`Outlook`] in terms of copies.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CopiesOutlook {
    pub playable: Copies,
    pub dead: Copies,
    pub critical: Copies,
}

impl From<Outlook> for CopiesOutlook {
    fn from(outlook: Outlook) -> CopiesOutlook {
        CopiesOutlook {
            playable: Copies::of(outlook.playable),
            dead: Copies::of(outlook.dead),
            critical: Copies::of(outlook.critical),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Parameters, Rank, Suit, Variant};

    #[test]
    fn a_set_has_the_copies_and_the_kinds_of_the_base_game() {
        let variant = Variant::new(Parameters::default()).unwrap();
        assert_eq!(Copies::ALL.len(), u32::from(variant.deck_size()));
        for card in variant.card_kinds() {
            let index = variant.kind_of(card);
            let mut copies = Copies::of(CardSet::of(index));
            for left in (1..=u32::from(variant.copies(card))).rev() {
                assert_eq!((copies.len(), copies.kinds()), (left, CardSet::of(index)));
                assert!(copies.is_one_kind());
                assert_eq!(copies.ranks().set, 1 << card.rank.index());
                assert_eq!(copies.suits().set, 1 << (card.suit.index() * 5 + 4));
                assert_eq!(copies.rank_sum(), left * (card.rank.index() as u32 + 1));
                copies.remove(index);
            }
            assert!(copies.is_empty());
            copies.remove(index);
            assert!(copies.is_empty());
        }
    }

    #[test]
    fn hints_match_all_copies() {
        let suit = Copies::matching(Hint::Color(Suit::ALL[2]));
        let rank = Copies::matching(Hint::Rank(Rank::ALL[0]));
        assert_eq!((suit.len(), rank.len(), (suit & rank).len()), (10, 15, 3));
    }

    #[test]
    fn suits_and_ranks_are_distinct_unless_two_kinds_share_one() {
        for one in 0..KINDS {
            for other in 0..KINDS {
                let copies = Copies::of(CardSet::of(one) | CardSet::of(other));
                let shares = |same: bool| same && one != other;
                assert_eq!(copies.suits().are_distinct, !shares(one / RANKS == other / RANKS));
                assert_eq!(copies.ranks().are_distinct, !shares(one % RANKS == other % RANKS));
            }
        }
    }
}
