//! The suits and the ranks of a set of kinds of the base game.

use crate::bots::common::base_game::{self, HIGHEST, RANKS};
use crate::rules::CardSet;

/// The suits, or the ranks, of a set of kinds.
#[derive(Clone, Copy, Debug)]
pub(super) struct SuitsOrRanks {
    /// One bit for each suit or rank.
    pub set: u64,
    /// Whether no two kinds share a suit or rank.
    pub are_distinct: bool,
}

impl SuitsOrRanks {
    /// The suits of these kinds.
    pub const fn suits(CardSet(kinds): CardSet) -> SuitsOrRanks {
        // The lower bits of a suit carry into its highest one if any of them is set.
        let lower = base_game::ALL.0 & !HIGHEST.0;
        let set = (((kinds & lower) + lower) | kinds) & HIGHEST.0;
        // Subtracting one from each suit that occurs clears its lowest kind, and sets only bits
        // below it.
        let more = kinds & (kinds - (set >> (RANKS - 1)));
        SuitsOrRanks { set, are_distinct: more == 0 }
    }

    /// The ranks of these kinds.
    pub const fn ranks(CardSet(kinds): CardSet) -> SuitsOrRanks {
        const ONE_SUIT: u64 = (1 << RANKS) - 1;
        const TWO_SUITS: u64 = (1 << (2 * RANKS)) - 1;
        let (low, high) = (kinds & TWO_SUITS, kinds >> (2 * RANKS) & TWO_SUITS);
        let four = low | high;
        let (even, odd) = (four & ONE_SUIT, four >> RANKS);
        let last = kinds >> (4 * RANKS);
        let twice = low & high | even & odd | (even | odd) & last;
        SuitsOrRanks { set: even | odd | last, are_distinct: twice == 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bots::common::base_game::{SUITS, rank_of, suit_of};

    #[test]
    fn suits_and_ranks_are_distinct_unless_two_kinds_share_one() {
        for one in 0..SUITS * RANKS {
            let (suits, ranks) =
                (SuitsOrRanks::suits(CardSet::of(one)), SuitsOrRanks::ranks(CardSet::of(one)));
            assert_eq!(suits.set, 1 << (suit_of(one) * RANKS + RANKS - 1));
            assert_eq!(ranks.set, 1 << rank_of(one));
            for other in 0..SUITS * RANKS {
                let kinds = CardSet::of(one) | CardSet::of(other);
                let shares = |same: bool| same && one != other;
                let is_same = [suit_of(one) == suit_of(other), rank_of(one) == rank_of(other)];
                assert_eq!(SuitsOrRanks::suits(kinds).are_distinct, !shares(is_same[0]));
                assert_eq!(SuitsOrRanks::ranks(kinds).are_distinct, !shares(is_same[1]));
            }
        }
    }
}
