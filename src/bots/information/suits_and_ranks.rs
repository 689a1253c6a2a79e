//! The suits and the ranks of a set of kinds of the base game.

use crate::bots::common::base_game::{self, HIGHEST, RANKS};
use crate::rules::CardSet;

/// The suits of these kinds, one bit each.
pub(super) const fn suits_of(CardSet(kinds): CardSet) -> u64 {
    // The lower bits of a suit carry into its highest one if any of them is set.
    let lower = base_game::ALL.0 & !HIGHEST.0;
    (((kinds & lower) + lower) | kinds) & HIGHEST.0
}

/// The ranks of these kinds, one bit each.
pub(super) const fn ranks_of(CardSet(kinds): CardSet) -> u64 {
    const ONE_SUIT: u64 = (1 << RANKS) - 1;
    const TWO_SUITS: u64 = (1 << (2 * RANKS)) - 1;
    let four = kinds & TWO_SUITS | kinds >> (2 * RANKS) & TWO_SUITS;
    four & ONE_SUIT | four >> RANKS | kinds >> (4 * RANKS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bots::common::base_game::{SUITS, rank_of, suit_of};

    #[test]
    fn a_set_has_the_suits_and_the_ranks_of_its_kinds() {
        let suit_bit = |kind| 1 << (suit_of(kind) * RANKS + RANKS - 1);
        let rank_bit = |kind| 1 << rank_of(kind);
        for one in 0..SUITS * RANKS {
            for other in 0..SUITS * RANKS {
                let kinds = CardSet::of(one) | CardSet::of(other);
                assert_eq!(suits_of(kinds), suit_bit(one) | suit_bit(other));
                assert_eq!(ranks_of(kinds), rank_bit(one) | rank_bit(other));
            }
        }
    }
}
