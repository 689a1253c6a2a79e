//! The encoding of numbers by the hints to one seat.

use crate::bots::common::base_game::{rank_of, suit_of};
use crate::bots::hat_guessing::hand_knowledge::{CardsLeft, HandKnowledge, is_certainly};
use crate::bots::hat_guessing::suits_or_ranks::SuitsOrRanks;
use crate::rules::{CardSet, Hint, Slot, SlotSet};

/// The map from hints to one seat to numbers. It follows from the common knowledge about the hand.
#[derive(Clone, Copy, Debug)]
pub(super) enum HintCode {
    /// The number depends on whether the hint is of rank or colour, and whether it touches the
    /// slot.
    Slot {
        slot: usize,
        /// Whether rank and colour hints that miss the slot have different numbers.
        tells_kinds: bool,
    },
    /// The number depends on the colour or rank that the hint names.
    Named { colors: [u8; 5], ranks: [u8; 5] },
}

impl HintCode {
    /// How many numbers the hints to this hand can encode.
    pub fn count(hand: &HandKnowledge) -> u32 {
        let outline = Outline::of(hand);
        Packing::of(hand, &outline).map_or(outline.slot_count(), Packing::count)
    }

    /// The code of hints to this hand, and how many numbers they can encode.
    pub fn of(hand: &HandKnowledge, left: &CardsLeft) -> (HintCode, u32) {
        let outline = Outline::of(hand);
        if let Some(packing) = Packing::of(hand, &outline) {
            return (packing.code(hand), packing.count());
        }
        let count = outline.slot_count();
        (HintCode::Slot { slot: most_open_slot(hand, left), tells_kinds: count == 4 }, count)
    }

    /// The number of a hint that touches these slots.
    pub fn number(&self, hint: Hint, touched: SlotSet) -> u32 {
        match (self, hint) {
            (HintCode::Named { colors, .. }, Hint::Color(suit)) => colors[suit.index()].into(),
            (HintCode::Named { ranks, .. }, Hint::Rank(rank)) => ranks[rank.index()].into(),
            (&HintCode::Slot { slot, .. }, _) if touched.contains(Slot::at(slot)) => {
                u32::from(matches!(hint, Hint::Color(_)))
            }
            (HintCode::Slot { tells_kinds: true, .. }, Hint::Color(_)) => 3,
            (HintCode::Slot { .. }, _) => 2,
        }
    }
}

/// The slot with the most possible suits and ranks together, among those whose kind is neither
/// known nor certainly dead; on ties the first.
fn most_open_slot(hand: &HandKnowledge, left: &CardsLeft) -> usize {
    let (mut best, mut most) = (0, 0);
    for (slot, &kinds) in hand.cards().iter().enumerate() {
        if kinds.single().is_some() || is_certainly(kinds, left.outlook.dead) {
            continue;
        }
        let open =
            (SuitsOrRanks::suits(kinds).set | SuitsOrRanks::ranks(kinds).set << 25).count_ones();
        if open > most {
            (best, most) = (slot, open);
        }
    }
    best
}

/// The possible suits and ranks of the slots.
struct Outline {
    /// Suits that are possible in all slots.
    shared_suits: u64,
    /// Ranks that are possible in all slots.
    shared_ranks: u64,
    /// The slots in which no two possible kinds share a suit.
    single_suits: u8,
    /// The slots in which no two possible kinds share a rank.
    single_ranks: u8,
}

impl Outline {
    fn of(hand: &HandKnowledge) -> Outline {
        let mut outline = Outline {
            shared_suits: u64::MAX,
            shared_ranks: u64::MAX,
            single_suits: 0,
            single_ranks: 0,
        };
        for (slot, &kinds) in hand.cards().iter().enumerate() {
            let (suits, ranks) = (SuitsOrRanks::suits(kinds), SuitsOrRanks::ranks(kinds));
            outline.shared_suits &= suits.set;
            outline.shared_ranks &= ranks.set;
            outline.single_suits |= u8::from(suits.are_distinct) << slot;
            outline.single_ranks |= u8::from(ranks.are_distinct) << slot;
        }
        outline
    }

    /// The numbers of [`HintCode::Slot`]: 4 if both a colour and a rank hint that miss the slot are
    /// certain to exist, otherwise 3.
    const fn slot_count(&self) -> u32 {
        if self.shared_suits != 0 || self.shared_ranks != 0 { 3 } else { 4 }
    }
}

/// Sets of slots whose hints are unambiguous: no two of `colors` may have the same suit, no two of
/// `ranks` the same rank.
#[derive(Clone, Copy)]
struct Packing {
    colors: u8,
    ranks: u8,
}

impl Packing {
    /// A packing, if it encodes more numbers than [`HintCode::Slot`].
    fn of(hand: &HandKnowledge, outline: &Outline) -> Option<Packing> {
        let Outline { single_suits, single_ranks, .. } = *outline;
        if LEN[usize::from(single_suits)] < 3 && LEN[usize::from(single_ranks)] < 3 {
            return None;
        }
        let packing = Packing {
            colors: pack(hand, single_suits, SuitsOrRanks::suits),
            ranks: pack(hand, single_ranks, SuitsOrRanks::ranks),
        };
        (packing.count() > 4).then_some(packing)
    }

    fn count(self) -> u32 {
        u32::from(LEN[usize::from(self.colors)] + LEN[usize::from(self.ranks)])
    }

    fn code(self, hand: &HandKnowledge) -> HintCode {
        const FREE: u8 = u8::MAX;
        let (mut colors, mut ranks) = ([FREE; 5], [FREE; 5]);
        let mut count = 0;
        for (slot, &kinds) in hand.cards().iter().enumerate() {
            if self.colors >> slot & 1 == 1 {
                kinds.iter().for_each(|kind| colors[suit_of(kind)] = count);
                count += 1;
            }
            if self.ranks >> slot & 1 == 1 {
                kinds.iter().for_each(|kind| ranks[rank_of(kind)] = count);
                count += 1;
            }
        }
        // The remaining colours and ranks get the numbers in turn: more hints for each number to
        // choose from.
        let mut next = 0;
        for number in colors.iter_mut().chain(&mut ranks).filter(|number| **number == FREE) {
            *number = next;
            next = (next + 1) % count;
        }
        HintCode::Named { colors, ranks }
    }
}

/// The largest subset of these slots in which no two share a suit, or a rank; the first slot of the hand if
/// no two slots fit.
fn pack(hand: &HandKnowledge, slots: u8, all: impl Fn(CardSet) -> SuitsOrRanks) -> u8 {
    if LEN[usize::from(slots)] < 2 {
        return 1;
    }
    let mut sets = [0; 5];
    for (set, kinds) in sets.iter_mut().zip(hand.cards()) {
        *set = all(*kinds).set;
    }
    let mut clashes = WITH_OTHERS[usize::from(slots)];
    for (pair, &(one, other)) in PAIRS.iter().enumerate() {
        clashes |= u16::from(sets[one] & sets[other] != 0) << pair;
    }
    LARGEST[usize::from(clashes)]
}

/// The size of each set of slots.
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

/// For each set of slots, the pairs with a slot outside the set.
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

/// For each set of clashing pairs, the largest set of slots that contains none of them; on ties the
/// lowest as a number.
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
