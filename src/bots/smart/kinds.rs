//! The kinds of cards of the base game, and how many copies of each are accounted for.

use crate::rules::{CardSet, Hint};

/// Suits in the base game.
const SUITS: usize = 5;
/// Ranks in the base game.
const RANKS: usize = 5;

/// All kinds.
pub(super) const ALL: CardSet = CardSet((1 << (SUITS * RANKS)) - 1);
/// The kinds of the lowest rank: three copies each.
const LOWEST: CardSet = of_rank(0);
/// The kinds of the highest rank: one copy each.
const HIGHEST: CardSet = of_rank(RANKS - 1);

/// The kinds of this suit.
pub(super) const fn of_suit(suit: usize) -> CardSet {
    CardSet(((1 << RANKS) - 1) << (suit * RANKS))
}

/// The kinds of this rank.
pub(super) const fn of_rank(rank: usize) -> CardSet {
    CardSet(0x0010_8421 << rank)
}

/// The kinds that a hint names.
pub(super) const fn of_hint(hint: Hint) -> CardSet {
    match hint {
        Hint::Color(suit) => of_suit(suit.index()),
        Hint::Rank(rank) => of_rank(rank.index()),
    }
}

/// What a hint leaves of the kinds of a card that it points out, or passes over.
pub(super) const fn left_by(named: CardSet, touched: bool) -> CardSet {
    // Without a branch, which would be taken half of the time.
    CardSet(named.0 ^ (touched as u64).wrapping_sub(1) & ALL.0)
}

/// The suit of a kind, from 0.
pub(super) const fn suit(kind: usize) -> usize {
    kind / RANKS
}

/// The rank of a kind, from 0.
pub(super) const fn rank(kind: usize) -> usize {
    kind % RANKS
}

/// The rank that all these kinds share, from 0.
pub(super) fn common_rank(kinds: CardSet) -> Option<usize> {
    let rank = rank(kinds.0.trailing_zeros() as usize);
    kinds.is_subset(of_rank(rank)).then_some(rank)
}

/// Copies that are accounted for: the kinds of which at least one, two or three are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    once: CardSet,
    twice: CardSet,
    thrice: CardSet,
}

impl Tally {
    /// Of nothing.
    pub(super) const fn new() -> Tally {
        Tally { once: CardSet::EMPTY, twice: CardSet::EMPTY, thrice: CardSet::EMPTY }
    }

    /// Counts one more copy of a kind, given as a set of one, or of nothing.
    pub(super) fn add(&mut self, kind: CardSet) {
        self.thrice |= self.twice & kind;
        self.twice |= self.once & kind;
        self.once |= kind;
    }

    /// The kinds that no further card can be of.
    pub(super) fn exhausted(self) -> CardSet {
        self.thrice | (self.twice - LOWEST) | (self.once & HIGHEST)
    }
}

/// A part of a whole number of cases, to be compared with others exactly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    part: usize,
    whole: usize,
}

impl Share {
    /// The share of the kinds that are in the other set too.
    pub(super) fn of(kinds: CardSet, others: CardSet) -> Share {
        Share { part: (kinds & others).len(), whole: kinds.len() }
    }

    /// Whether this is the larger share.
    pub(super) fn exceeds(self, other: Share) -> bool {
        self.part * other.whole > other.part * self.whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_exhausted_with_its_last_copy() {
        for (kind, copies) in [(0, 3), (1, 2), (3, 2), (4, 1), (20, 3), (24, 1)] {
            let mut tally = Tally::new();
            for _ in 0..copies {
                assert_eq!(tally.exhausted(), CardSet::EMPTY);
                tally.add(CardSet::of(kind));
            }
            assert_eq!(tally.exhausted(), CardSet::of(kind));
        }
    }
}
