//! Sets of kinds of cards: what a hint leaves possible, and fractions of sets.

use crate::bots::common::base_game;
use crate::rules::CardSet;

/// The kinds that remain possible for a card after a hint that names these kinds, by whether the
/// hint touched the card.
pub(super) const fn left_by(named: CardSet, touched: bool) -> CardSet {
    // Branch-free: a branch would be mispredicted half of the time.
    CardSet(named.0 ^ (touched as u64).wrapping_sub(1) & base_game::ALL.0)
}

/// Whether some of these kinds are among the others, and some are not.
pub(super) fn is_mixed(kinds: CardSet, others: CardSet) -> bool {
    kinds.intersects(others) && !kinds.is_subset(others)
}

/// A fraction of whole numbers, for exact comparison.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fraction {
    part: usize,
    whole: usize,
}

impl Fraction {
    /// The fraction of the kinds that are in the other set.
    pub(super) fn of(kinds: CardSet, others: CardSet) -> Fraction {
        Fraction { part: (kinds & others).len(), whole: kinds.len() }
    }

    pub(super) fn exceeds(self, other: Fraction) -> bool {
        self.part * other.whole > other.part * self.whole
    }
}
