use crate::bots::base_game::{HIGHEST, LOWEST};
use crate::rules::CardSet;

/// Copies of the base game's cards that are accounted for: the kinds of which at least one, two or
/// three are.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenCopies {
    once: CardSet,
    twice: CardSet,
    thrice: CardSet,
}

impl SeenCopies {
    pub(super) const fn new() -> SeenCopies {
        SeenCopies { once: CardSet::EMPTY, twice: CardSet::EMPTY, thrice: CardSet::EMPTY }
    }

    /// Adds one copy of a kind, given as a set of one kind or none.
    pub(super) fn add(&mut self, kind: CardSet) {
        self.thrice |= self.twice & kind;
        self.twice |= self.once & kind;
        self.once |= kind;
    }

    /// The kinds whose copies are all accounted for.
    pub(super) fn exhausted(self) -> CardSet {
        self.thrice | (self.twice - LOWEST) | (self.once & HIGHEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_exhausted_with_its_last_copy() {
        for (kind, copies) in [(0, 3), (1, 2), (3, 2), (4, 1), (20, 3), (24, 1)] {
            let mut seen = SeenCopies::new();
            for _ in 0..copies {
                assert_eq!(seen.exhausted(), CardSet::EMPTY);
                seen.add(CardSet::of(kind));
            }
            assert_eq!(seen.exhausted(), CardSet::of(kind));
        }
    }
}
