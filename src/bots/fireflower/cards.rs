//! Kinds of cards of the base game (index `suit * 5 + rank`), and counts of them.

use crate::rules::{CardSet, Hint};

pub(super) const SUITS: usize = 5;
pub(super) const RANKS: usize = 5;
/// Cards in the deck.
pub(super) const CARDS: usize = 50;

const ALL: u64 = (1 << (SUITS * RANKS)) - 1;
/// The kinds of the lowest rank.
const LOWEST: u64 = 0x10_8421;

/// All kinds.
pub(super) const fn of_all() -> CardSet {
    CardSet(ALL)
}

/// The kinds of a suit.
pub(super) const fn of_suit(suit: usize) -> CardSet {
    CardSet(0b11111 << (suit * RANKS))
}

/// The kinds of a rank.
pub(super) const fn of_rank(rank: usize) -> CardSet {
    CardSet(LOWEST << rank)
}

/// The kinds that a hint points out.
pub(super) const fn of_hint(hint: Hint) -> CardSet {
    match hint {
        Hint::Color(suit) => of_suit(suit.index()),
        Hint::Rank(rank) => of_rank(rank.index()),
    }
}

/// The suit of a kind.
pub(super) const fn suit_of(card: usize) -> usize {
    card / RANKS
}

/// The kinds one rank above these, of the same suit.
pub(super) const fn above(cards: CardSet) -> CardSet {
    CardSet(cards.0 << 1 & ALL & !LOWEST)
}

/// These kinds and all higher ones of the same suits.
pub(super) fn above_all(cards: CardSet) -> CardSet {
    if cards.is_empty() {
        return cards;
    }
    let two = cards | above(cards);
    two | above(above(two)) | above(above(above(above(two))))
}

/// The kinds one rank below these, of the same suit.
pub(super) const fn below(cards: CardSet) -> CardSet {
    CardSet((cards.0 & !LOWEST) >> 1)
}

/// The suit that all of these kinds share; none of no kinds.
pub(super) fn common_suit(cards: CardSet) -> Option<usize> {
    let suit = suit_of(cards.0.trailing_zeros() as usize);
    (!cards.is_empty() && cards.is_subset(of_suit(suit))).then_some(suit)
}

/// The next kind to play on each stack, where these are on them.
pub(super) const fn next_on(played: CardSet) -> CardSet {
    CardSet((played.0 << 1 | LOWEST) & !played.0 & ALL)
}

/// How many copies of each kind there are, from 0 to 3, as two planes of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    ones: u64,
    twos: u64,
}

impl Counts {
    /// The full deck: three copies of the lowest rank, one of the highest, two of the others.
    pub(super) const DECK: Counts =
        Counts { ones: LOWEST | LOWEST << (RANKS - 1), twos: ALL & !(LOWEST << (RANKS - 1)) };

    /// One less of each of these kinds. The caller owes that there is one.
    pub(super) fn take(&mut self, cards: CardSet) {
        self.twos ^= cards.0 & !self.ones;
        self.ones ^= cards.0;
    }

    /// One more of each of these kinds. The caller owes that there are fewer than three.
    pub(super) fn put_back(&mut self, cards: CardSet) {
        self.twos ^= cards.0 & self.ones;
        self.ones ^= cards.0;
    }

    /// The kinds of which there is a copy.
    pub(super) const fn some(self) -> CardSet {
        CardSet(self.ones | self.twos)
    }

    /// The kinds of which there is none.
    pub(super) const fn none(self) -> CardSet {
        CardSet(ALL & !(self.ones | self.twos))
    }

    /// The kinds of which there is exactly one copy.
    pub(super) const fn one(self) -> CardSet {
        CardSet(self.ones & !self.twos)
    }

    /// The kinds of which there are exactly two copies.
    pub(super) const fn two(self) -> CardSet {
        CardSet(self.twos & !self.ones)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_go_down_and_up() {
        let mut counts = Counts::DECK;
        let cards = CardSet::of(0) | CardSet::of(4) | CardSet::of(7);
        counts.take(cards);
        assert_eq!(counts.none(), CardSet::of(4));
        assert!(counts.two().contains(0) && counts.one().contains(7));
        counts.put_back(cards);
        assert_eq!(counts, Counts::DECK);
    }

    #[test]
    fn suits_do_not_run_into_each_other() {
        assert_eq!(above(CardSet::of(4)), CardSet::EMPTY);
        assert_eq!(above_all(CardSet::of(10)), of_suit(2));
        assert_eq!(below(CardSet::of(5)), CardSet::EMPTY);
        assert_eq!(next_on(of_suit(0)), of_rank(0) - CardSet::of(0));
        assert_eq!(common_suit(of_suit(3)), Some(3));
        assert_eq!(common_suit(of_rank(2)), None);
        assert_eq!(common_suit(CardSet::EMPTY), None);
    }
}
