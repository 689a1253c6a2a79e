//! The numbers that the hints to one seat stand for.

use super::board::Board;
use super::copies::Copies;
use super::hand::Hand;
use crate::rules::{Hint, SlotSet};

/// Which number a hint to one seat stands for. It follows from what everybody knows of the hand.
#[derive(Clone, Copy, Debug)]
pub(super) enum HintCode {
    /// By whether the hint is of rank or colour, and whether it points out this slot.
    Slot {
        slot: usize,
        /// Whether the two kinds of hints that pass over the slot differ, too.
        tells_kinds: bool,
    },
    /// By what the hint names.
    Named { colors: [u8; 5], ranks: [u8; 5] },
}

impl HintCode {
    /// How many numbers hints to this hand can stand for.
    pub fn count(hand: &Hand) -> u32 {
        let outline = Outline::of(hand);
        outline.packing().map_or_else(|| outline.slot_count(), |packing| packing.count())
    }

    /// The code of hints to this hand.
    pub fn of(hand: &Hand, board: &Board) -> HintCode {
        let outline = Outline::of(hand);
        outline.packing().map_or_else(
            || HintCode::Slot {
                slot: most_open_slot(hand, board),
                tells_kinds: outline.slot_count() == 4,
            },
            |packing| packing.code(hand),
        )
    }

    /// The number of a hint that points out these slots.
    pub fn number(&self, hint: Hint, touched: SlotSet) -> u32 {
        match (self, hint) {
            (HintCode::Named { colors, .. }, Hint::Color(suit)) => colors[suit.index()].into(),
            (HintCode::Named { ranks, .. }, Hint::Rank(rank)) => ranks[rank.index()].into(),
            (&HintCode::Slot { slot, .. }, _) if touched.contains(slot) => {
                u32::from(matches!(hint, Hint::Color(_)))
            }
            (HintCode::Slot { tells_kinds: true, .. }, Hint::Color(_)) => 3,
            (HintCode::Slot { .. }, _) => 2,
        }
    }
}

/// The first slot that may hold the most suits and ranks, but none that is known or dead.
fn most_open_slot(hand: &Hand, board: &Board) -> usize {
    let openness = |copies: Copies| {
        if copies.is_one_kind() || copies.is_certainly(board.dead) {
            return 0;
        }
        let kinds = copies.kinds();
        kinds.suits().count_ones() + kinds.ranks().count_ones()
    };
    let (mut best, mut most) = (0, 0);
    for (slot, &copies) in hand.slots().iter().enumerate() {
        let open = openness(copies);
        if open > most {
            (best, most) = (slot, open);
        }
    }
    best
}

/// The suits and ranks that each slot may have.
struct Outline {
    len: usize,
    kinds: [Copies; 5],
    suits: [u64; 5],
    ranks: [u64; 5],
}

impl Outline {
    fn of(hand: &Hand) -> Outline {
        let mut outline = Outline {
            len: hand.slots().len(),
            kinds: [Copies::NONE; 5],
            suits: [0; 5],
            ranks: [0; 5],
        };
        for (slot, &copies) in hand.slots().iter().enumerate() {
            let kinds = copies.kinds();
            outline.kinds[slot] = kinds;
            outline.suits[slot] = kinds.suits();
            outline.ranks[slot] = kinds.ranks();
        }
        outline
    }

    /// One number more when a hint that passes over the slot can always be had of both kinds.
    fn slot_count(&self) -> u32 {
        let shared = |sets: &[u64; 5]| sets[..self.len].iter().fold(u64::MAX, |all, set| all & set);
        let all_alike = shared(&self.suits) != 0 || shared(&self.ranks) != 0;
        if all_alike { 3 } else { 4 }
    }

    fn packing(&self) -> Option<Packing> {
        let packing = Packing { colors: self.pack(&self.suits), ranks: self.pack(&self.ranks) };
        (packing.count() > 4).then_some(packing)
    }

    /// The most slots of which no two share one of these traits. A slot that has a trait in more
    /// than one kind is out, except that the first stands when no two slots fit.
    fn pack(&self, traits: &[u64; 5]) -> u8 {
        let mut clashes = 0;
        for (pair, &(one, other)) in PAIRS.iter().enumerate() {
            clashes |= u16::from(traits[one] & traits[other] != 0) << pair;
        }
        for slot in 0..5 {
            let single = self.kinds[slot].len() == traits[slot].count_ones();
            if slot >= self.len || !single {
                clashes |= PAIRS_WITH[slot];
            }
        }
        LARGEST[usize::from(clashes)] & ((1 << self.len) - 1)
    }
}

/// Slots of which a colour or rank hint, each for itself, cannot be mistaken for another's.
#[derive(Clone, Copy)]
struct Packing {
    colors: u8,
    ranks: u8,
}

impl Packing {
    fn count(self) -> u32 {
        self.colors.count_ones() + self.ranks.count_ones()
    }

    fn code(self, hand: &Hand) -> HintCode {
        const FREE: u8 = u8::MAX;
        let (mut colors, mut ranks) = ([FREE; 5], [FREE; 5]);
        let mut count = 0;
        for (slot, &copies) in hand.slots().iter().enumerate() {
            if self.colors >> slot & 1 == 1 {
                copies.kinds().indices().for_each(|index| colors[index / 5] = count);
                count += 1;
            }
            if self.ranks >> slot & 1 == 1 {
                copies.kinds().indices().for_each(|index| ranks[index % 5] = count);
                count += 1;
            }
        }
        // What is left over stands for the numbers in turn, for the sake of what it says openly.
        let mut next = 0;
        for number in colors.iter_mut().chain(&mut ranks).filter(|number| **number == FREE) {
            *number = next;
            next = (next + 1) % count;
        }
        HintCode::Named { colors, ranks }
    }
}

/// All pairs of slots.
const PAIRS: [(usize, usize); 10] =
    [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)];

/// The pairs that each slot is in.
const PAIRS_WITH: [u16; 5] = {
    let mut with = [0; 5];
    let mut pair = 0;
    while pair < PAIRS.len() {
        with[PAIRS[pair].0] |= 1 << pair;
        with[PAIRS[pair].1] |= 1 << pair;
        pair += 1;
    }
    with
};

/// For each set of pairs that clash, the largest set of slots with no such pair; of those the
/// first in the order of their bits.
const LARGEST: [u8; 1 << PAIRS.len()] = {
    let mut largest = [1u8; 1 << PAIRS.len()];
    let mut slots = 3u8;
    while slots < 1 << 5 {
        let mut within = 0;
        let mut pair = 0;
        while pair < PAIRS.len() {
            let both = 1 << PAIRS[pair].0 | 1 << PAIRS[pair].1;
            within |= ((slots & both == both) as usize) << pair;
            pair += 1;
        }
        let mut clashes = 0;
        while clashes < largest.len() {
            if clashes & within == 0 && slots.count_ones() > largest[clashes].count_ones() {
                largest[clashes] = slots;
            }
            clashes += 1;
        }
        slots += 1;
    }
    largest
};
