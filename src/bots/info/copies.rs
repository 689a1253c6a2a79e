//! Sets of copies of the base game's cards, in which counting bits weighs each kind of card by the
//! copies that it has left.

use crate::rules::{Card, CardSet, Hint, set_operators};

/// Kinds of cards of the base game.
const KINDS: usize = 25;
/// The first bit of each rank's copies, those of one suit.
const RANK_BASE: [usize; 6] = [0, 3, 5, 7, 9, 10];
/// Copies of each suit.
const SUIT_SIZE: usize = 10;
/// The lowest bit of each suit.
const EACH_SUIT: u64 = 1 | 1 << 10 | 1 << 20 | 1 << 30 | 1 << 40;

/// All copies of each kind, by card index.
const OF_KIND: [Copies; KINDS] = {
    let mut all = [Copies(0); KINDS];
    let mut index = 0;
    while index < KINDS {
        let (base, end) = (RANK_BASE[index % 5], RANK_BASE[index % 5 + 1]);
        all[index] = Copies(((1 << end) - (1 << base)) << (index / 5 * SUIT_SIZE));
        index += 1;
    }
    all
};

/// The card index of each copy.
const KIND_OF: [u8; KINDS * 2] = {
    let mut kinds = [0; KINDS * 2];
    let mut index = 0;
    while index < KINDS {
        let mut copies = OF_KIND[index].0;
        while copies != 0 {
            kinds[copies.trailing_zeros() as usize] = index as u8;
            copies &= copies - 1;
        }
        index += 1;
    }
    kinds
};

/// A set of copies: for each kind of card in index order as many bits as it has copies, as in
/// [`View::discards`](crate::rules::View::discards). Copies of a kind are taken out from the
/// lowest, so that a kind is in the set while its highest bit is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Copies(pub u64);

impl Copies {
    pub const NONE: Copies = Copies(0);
    pub const ALL: Copies = Copies((1 << (SUIT_SIZE * 5)) - 1);
    /// The lowest copy of each kind.
    const LOWEST: Copies = Copies(EACH_SUIT * (1 | 1 << 3 | 1 << 5 | 1 << 7 | 1 << 9));
    /// The highest copy of each kind.
    const HIGHEST: Copies = Copies(EACH_SUIT * (1 << 2 | 1 << 4 | 1 << 6 | 1 << 8 | 1 << 9));

    /// All copies of the kind with this card index.
    pub const fn of_kind(index: usize) -> Copies {
        OF_KIND[index]
    }

    pub const fn of_card(card: Card) -> Copies {
        OF_KIND[card.suit.index() * 5 + card.rank.index()]
    }

    pub const fn of_suit(suit: usize) -> Copies {
        Copies(((1 << SUIT_SIZE) - 1) << (suit * SUIT_SIZE))
    }

    const fn of_rank(rank: usize) -> Copies {
        Copies(OF_KIND[rank].0 * EACH_SUIT)
    }

    /// All copies of the cards that match the hint.
    pub const fn of_hint(hint: Hint) -> Copies {
        match hint {
            Hint::Color(suit) => Copies::of_suit(suit.index()),
            Hint::Rank(rank) => Copies::of_rank(rank.index()),
        }
    }

    /// All copies of these kinds.
    pub fn of_kinds(kinds: CardSet) -> Copies {
        kinds.iter().fold(Copies::NONE, |copies, index| copies | OF_KIND[index])
    }

    /// All copies of the lowest `height` ranks of a suit.
    pub const fn of_stack(suit: usize, height: usize) -> Copies {
        Copies(((1 << RANK_BASE[height]) - 1) << (suit * SUIT_SIZE))
    }

    /// Number of copies in the set: the weight of its kinds.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub const fn meets(self, other: Copies) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is something in the set and all of it is in the other one.
    pub const fn is_certainly(self, other: Copies) -> bool {
        self.0 != 0 && self.0 & !other.0 == 0
    }

    /// The kinds of which there is a copy: their highest copies.
    pub const fn kinds(self) -> Copies {
        Copies(self.0 & Copies::HIGHEST.0)
    }

    /// Whether the copies are all of one kind.
    pub const fn is_one_kind(self) -> bool {
        self.kinds().0.is_power_of_two()
    }

    /// All copies of the kinds of which there is a copy.
    pub const fn whole(self) -> Copies {
        let kinds = self.kinds().0;
        let with_two = kinds | (kinds & !Copies::of_rank(4).0) >> 1;
        Copies(with_two | (kinds & Copies::of_rank(0).0) >> 2)
    }

    /// The kinds with a single copy in the set.
    pub const fn lonely(self) -> Copies {
        Copies(self.kinds().0 & !(self.0 << 1 & !Copies::LOWEST.0))
    }

    /// The set without its lowest copy of this kind.
    pub const fn without_one(self, kind: Copies) -> Copies {
        let copies = self.0 & kind.0;
        Copies(self.0 ^ copies & copies.wrapping_neg())
    }

    /// The copies of a lower index than any of the others.
    pub const fn below(self, other: Copies) -> Copies {
        Copies(self.0 & (other.0 & other.0.wrapping_neg()).wrapping_sub(1))
    }

    /// The suits of a set of [`Copies::kinds`].
    pub const fn suits(self) -> Traits {
        const TOP: u64 = EACH_SUIT << (SUIT_SIZE - 1);
        let suits = (((self.0 & !TOP) + (TOP - EACH_SUIT)) | self.0) & TOP;
        // Taking one from each suit that is there changes the bits below its lowest kind only.
        let more = self.0 & (self.0 - (suits >> (SUIT_SIZE - 1)));
        Traits { set: suits, are_single: more == 0 }
    }

    /// The ranks of a set of [`Copies::kinds`].
    pub const fn ranks(self) -> Traits {
        const ONE: u64 = (1 << SUIT_SIZE) - 1;
        const TWO: u64 = (1 << (2 * SUIT_SIZE)) - 1;
        let (low, high) = (self.0 & TWO, self.0 >> (2 * SUIT_SIZE) & TWO);
        let four = low | high;
        let (even, odd) = (four & ONE, four >> SUIT_SIZE);
        let last = self.0 >> (4 * SUIT_SIZE);
        let twice = low & high | even & odd | (even | odd) & last;
        Traits { set: even | odd | last, are_single: twice == 0 }
    }

    /// The card index of each copy, in ascending order.
    pub fn indices(self) -> impl Iterator<Item = usize> {
        CardSet(self.0).iter().map(|copy| usize::from(KIND_OF[copy]))
    }
}

/// The suits or ranks of a set of kinds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traits {
    /// A bit for each.
    pub set: u64,
    /// Whether no two kinds share one.
    pub are_single: bool,
}

set_operators!(Copies);
