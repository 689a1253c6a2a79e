//! The numbers that the hints to one seat stand for.

use super::board::Board;
use super::copies::{Copies, Traits};
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
        Packing::of(hand, &outline).map_or(outline.slot_count(), Packing::count)
    }

    /// The code of hints to this hand, and how many numbers they can stand for.
    pub fn of(hand: &Hand, board: &Board) -> (HintCode, u32) {
        let outline = Outline::of(hand);
        if let Some(packing) = Packing::of(hand, &outline) {
            return (packing.code(hand), packing.count());
        }
        let count = outline.slot_count();
        (HintCode::Slot { slot: most_open_slot(hand, board), tells_kinds: count == 4 }, count)
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

/// The first slot that may have the most suits and ranks, but none that is known or dead.
fn most_open_slot(hand: &Hand, board: &Board) -> usize {
    let (mut best, mut most) = (0, 0);
    for (slot, &copies) in hand.slots().iter().enumerate() {
        if copies.is_one_kind() || copies.is_certainly(board.dead) {
            continue;
        }
        let kinds = copies.kinds();
        let open = (kinds.suits().set | kinds.ranks().set << 50).count_ones();
        if open > most {
            (best, most) = (slot, open);
        }
    }
    best
}

/// The suits and ranks that the slots may have.
struct Outline {
    /// Those that all slots may have.
    shared_suits: u64,
    shared_ranks: u64,
    /// The slots that may have each suit in one rank only.
    single_suits: u8,
    /// The slots that may have each rank in one suit only.
    single_ranks: u8,
}

impl Outline {
    fn of(hand: &Hand) -> Outline {
        let mut outline = Outline {
            shared_suits: u64::MAX,
            shared_ranks: u64::MAX,
            single_suits: 0,
            single_ranks: 0,
        };
        for (slot, &copies) in hand.slots().iter().enumerate() {
            let kinds = copies.kinds();
            let (suits, ranks) = (kinds.suits(), kinds.ranks());
            outline.shared_suits &= suits.set;
            outline.shared_ranks &= ranks.set;
            outline.single_suits |= u8::from(suits.are_single) << slot;
            outline.single_ranks |= u8::from(ranks.are_single) << slot;
        }
        outline
    }

    /// One number more when a hint that passes over the slot can always be had of both kinds.
    const fn slot_count(&self) -> u32 {
        if self.shared_suits != 0 || self.shared_ranks != 0 { 3 } else { 4 }
    }
}

/// Slots of which a colour or rank hint, each for itself, cannot be mistaken for another's.
#[derive(Clone, Copy)]
struct Packing {
    colors: u8,
    ranks: u8,
}

impl Packing {
    /// One that stands for more numbers than a slot can.
    fn of(hand: &Hand, outline: &Outline) -> Option<Packing> {
        let Outline { single_suits, single_ranks, .. } = *outline;
        if LEN[usize::from(single_suits)] < 3 && LEN[usize::from(single_ranks)] < 3 {
            return None;
        }
        let packing = Packing {
            colors: pack(hand, single_suits, Copies::suits),
            ranks: pack(hand, single_ranks, Copies::ranks),
        };
        (packing.count() > 4).then_some(packing)
    }

    fn count(self) -> u32 {
        u32::from(LEN[usize::from(self.colors)] + LEN[usize::from(self.ranks)])
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

/// The most of these slots of which no two share a trait, or the first slot of all when no two
/// slots fit.
fn pack(hand: &Hand, slots: u8, traits: impl Fn(Copies) -> Traits) -> u8 {
    if LEN[usize::from(slots)] < 2 {
        return 1;
    }
    let mut sets = [0; 5];
    for (set, copies) in sets.iter_mut().zip(hand.slots()) {
        *set = traits(copies.kinds()).set;
    }
    let mut clashes = WITH_OTHERS[usize::from(slots)];
    for (pair, &(one, other)) in PAIRS.iter().enumerate() {
        clashes |= u16::from(sets[one] & sets[other] != 0) << pair;
    }
    LARGEST[usize::from(clashes)]
}

/// Slots in each set of slots.
const LEN: [u8; 1 << 5] = {
    let mut len = [0; 1 << 5];
    let mut slots = 0;
    while slots < len.len() {
        len[slots] = slots.count_ones() as u8;
        slots += 1;
    }
    len
};

/// All pairs of slots.
const PAIRS: [(usize, usize); 10] =
    [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)];

/// For each set of slots the pairs that other slots are in.
const WITH_OTHERS: [u16; 1 << 5] = {
    let mut with = [0; 1 << 5];
    let mut slots = 0;
    while slots < with.len() {
        let mut pair = 0;
        while pair < PAIRS.len() {
            let both = 1 << PAIRS[pair].0 | 1 << PAIRS[pair].1;
            with[slots] |= ((slots & both != both) as u16) << pair;
            pair += 1;
        }
        slots += 1;
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
