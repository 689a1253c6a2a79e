use crate::rules::{CardSet, Hint, set_operators};

/// Suits of the base game.
const SUITS: usize = 5;

/// Ranks of the base game.
pub(super) const RANKS: usize = 5;

/// Kinds of cards in the base game.
const KINDS: usize = SUITS * RANKS;

/// The card of each suit with the lowest rank.
const LOWEST: u64 = 0x0010_8421;

/// The card of each suit with the highest rank.
const HIGHEST: u64 = LOWEST << (RANKS - 1);

/// The cards of the first suit.
const FIRST_SUIT: u64 = (1 << RANKS) - 1;

/// A set of copies of the base game's 50 cards, so that a count of bits is a weight. The first
/// copies are the lowest 25 bits, by card index; the second ones are the next 25. There a highest
/// rank, which has no second copy, leaves room for the third copy of its suit's lowest rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Copies(u64);

impl Copies {
    /// No copy.
    pub const NONE: Copies = Copies(0);

    /// Every copy of every card.
    pub const ALL: Copies = Copies::of(CardSet((1 << KINDS) - 1));

    /// Every copy of these cards.
    pub const fn of(cards: CardSet) -> Copies {
        let CardSet(firsts) = cards;
        let thirds = (firsts & LOWEST) << (RANKS - 1);
        Copies(firsts | (firsts & !HIGHEST | thirds) << KINDS)
    }

    /// Every copy of the cards that a hint points out.
    pub const fn matching(hint: Hint) -> Copies {
        let cards = match hint {
            Hint::Color(suit) => FIRST_SUIT << (suit.index() * RANKS),
            Hint::Rank(rank) => LOWEST << rank.index(),
        };
        Copies::of(CardSet(cards))
    }

    /// Takes one copy of the card away, the first one last.
    pub fn remove(&mut self, card: usize) {
        let held = self.0 & Copies::of(CardSet::of(card)).0;
        self.0 &= !((1 << 63) >> held.leading_zeros().min(63));
    }

    /// Number of copies.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether every copy is in the other set too.
    pub const fn is_subset(self, other: Copies) -> bool {
        self.0 & !other.0 == 0
    }

    /// The cards of which there is a copy.
    pub const fn kinds(self) -> CardSet {
        CardSet(self.0 & ((1 << KINDS) - 1))
    }

    /// Whether all are copies of one card.
    pub const fn is_one_kind(self) -> bool {
        self.kinds().0.is_power_of_two()
    }

    /// The suits of the copies: for each suit the bit of its highest card.
    pub const fn suits(self) -> u64 {
        let CardSet(kinds) = self.kinds();
        // A suit's lower bits carry into its highest one, if any of them is set.
        let lower = ((1 << KINDS) - 1) & !HIGHEST;
        (((kinds & lower) + lower) | kinds) & HIGHEST
    }

    /// The ranks of the copies: a bit each.
    pub const fn ranks(self) -> u64 {
        let CardSet(kinds) = self.kinds();
        (kinds | kinds >> 5 | kinds >> 10 | kinds >> 15 | kinds >> 20) & FIRST_SUIT
    }
}

set_operators!(Copies);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Parameters, Rank, Suit, Variant};

    #[test]
    fn a_set_has_the_copies_and_the_kinds_of_the_base_game() {
        let variant = Variant::new(Parameters::default()).unwrap();
        assert_eq!(Copies::ALL.len(), u32::from(variant.deck_size()));
        for card in variant.card_kinds() {
            let index = variant.card_index(card);
            let mut copies = Copies::of(CardSet::of(index));
            for left in (1..=u32::from(variant.copies(card))).rev() {
                assert_eq!((copies.len(), copies.kinds()), (left, CardSet::of(index)));
                assert!(copies.is_one_kind());
                assert_eq!(copies.ranks(), 1 << card.rank.index());
                assert_eq!(copies.suits(), 1 << (card.suit.index() * 5 + 4));
                copies.remove(index);
            }
            assert!(copies.is_empty());
        }
    }

    #[test]
    fn hints_point_out_all_copies() {
        let suit = Copies::matching(Hint::Color(Suit::ALL[2]));
        let rank = Copies::matching(Hint::Rank(Rank::ALL[0]));
        assert_eq!((suit.len(), rank.len(), (suit & rank).len()), (10, 15, 3));
    }
}
