//! What everybody at the table can tell from what was said and played, each hand's owner too. Bots
//! that read hints by the same convention keep the same notes.

use std::cmp::Reverse;

use crate::rules::{Card, CardSet, Hint, MAX_HAND_SIZE, MAX_PLAYERS, SlotSet, Variant, View};

/// A word for each slot of a hand, and some to spare: a round number of vectors.
const LANES: usize = 8;

/// What the table makes of the cards in one hand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HandNotes {
    /// The cards that each slot may hold, hints and their meaning considered. Never empty. All
    /// cards fit 32 bits.
    possible: [u32; LANES],
    /// Slots that hold a card.
    pub held: SlotSet,
    /// Slots that were found to hold one certain card.
    pub certain: SlotSet,
    /// Slots that were said or found to be playable.
    pub playable: SlotSet,
    /// Slots that were said or found to be the last copy of a card.
    pub critical: SlotSet,
    /// Slots that were found to be of no use.
    pub dead: SlotSet,
}

impl HandNotes {
    /// The cards that the slot may hold.
    pub fn possible(&self, slot: usize) -> CardSet {
        CardSet(self.possible[slot].into())
    }

    /// Narrows these slots down to cards that a hint says or means. What was said last counts when
    /// it contradicts what was thought before.
    pub fn narrow(&mut self, slots: SlotSet, cards: CardSet) {
        for slot in slots.iter() {
            let left = self.possible[slot] & cards.0 as u32;
            self.possible[slot] = if left == 0 { cards.0 as u32 } else { left };
        }
    }

    /// Takes these cards from those that these slots may hold, unless nothing would be left.
    pub fn exclude(&mut self, slots: SlotSet, cards: CardSet) {
        for slot in slots.iter() {
            let left = self.possible[slot] & !cards.0 as u32;
            self.possible[slot] = if left == 0 { self.possible[slot] } else { left };
        }
    }

    /// The same for all slots that may hold more than one card.
    pub fn exclude_from_uncertain(&mut self, cards: CardSet) {
        for possible in &mut self.possible {
            let left = *possible & !cards.0 as u32;
            *possible = if is_single(*possible) | (left == 0) { *possible } else { left };
        }
    }

    /// The slots for which this holds of the cards that they may hold.
    fn filter(&self, holds: impl Fn(u32) -> bool) -> SlotSet {
        let slots = self.possible[..MAX_HAND_SIZE].iter().rev();
        self.held & SlotSet(slots.fold(0, |slots, &cards| slots << 1 | u8::from(holds(cards))))
    }

    /// Slots that hold one of these cards for certain.
    pub fn within(&self, cards: CardSet) -> SlotSet {
        self.filter(|possible| possible & !cards.0 as u32 == 0)
    }

    /// Slots that hold one of these cards for certain, or another card that is certain.
    pub fn within_or_certain(&self, cards: CardSet) -> SlotSet {
        self.filter(|possible| (possible & !cards.0 as u32 == 0) | is_single(possible))
    }

    /// Slots whose suit is certain.
    pub fn suit_known(&self, variant: &Variant) -> SlotSet {
        let tables = variant.tables();
        self.filter(|cards| {
            cards & !tables.suit_cards[first(variant, cards).suit.index()] as u32 == 0
        })
    }

    /// Slots whose rank is certain.
    pub fn rank_known(&self, variant: &Variant) -> SlotSet {
        let tables = variant.tables();
        self.filter(|cards| {
            cards & !tables.rank_cards[first(variant, cards).rank.index()] as u32 == 0
        })
    }

    /// The card in this slot leaves.
    fn remove(&mut self, slot: usize) {
        for index in 0..MAX_HAND_SIZE - 1 {
            self.possible[index] = self.possible[index + usize::from(index >= slot)];
        }
        self.held = self.held.closed_up(slot);
        self.certain = self.certain.closed_up(slot);
        self.playable = self.playable.closed_up(slot);
        self.critical = self.critical.closed_up(slot);
        self.dead = self.dead.closed_up(slot);
    }

    /// A card is drawn, of which nothing is known.
    fn draw(&mut self, variant: &Variant) {
        let slot = self.held.len();
        self.possible[slot] = variant.tables().all_cards as u32;
        self.held |= SlotSet::of(slot);
    }

    /// The first of the cards that the slot may hold.
    pub fn first_possible(&self, variant: &Variant, slot: usize) -> Card {
        first(variant, self.possible[slot])
    }

    /// 1 for the lowest rank, and so on; 0 when the rank is not certain.
    fn rank_number(&self, variant: &Variant, slot: usize) -> usize {
        let rank = self.first_possible(variant, slot).rank.index();
        let is_known = self.possible(slot).is_subset(CardSet(variant.tables().rank_cards[rank]));
        if is_known { rank + 1 } else { 0 }
    }

    /// The playable slot of the lowest rank; one whose rank is not certain comes first.
    pub fn lowest_playable(&self, variant: &Variant) -> Option<usize> {
        self.playable.iter().min_by_key(|&slot| self.rank_number(variant, slot))
    }

    /// The oldest of these slots with the highest rank.
    pub fn highest(&self, variant: &Variant, slots: SlotSet) -> Option<usize> {
        slots.iter().min_by_key(|&slot| Reverse(self.rank_number(variant, slot)))
    }
}

/// The cards that a hint points out.
pub(super) fn hint_cards(variant: &Variant, hint: Hint) -> CardSet {
    let tables = variant.tables();
    CardSet(match hint {
        Hint::Color(suit) => tables.suit_cards[suit.index()],
        Hint::Rank(rank) => tables.rank_cards[rank.index()],
    })
}

/// The first card of a set that is not empty.
fn first(variant: &Variant, cards: u32) -> Card {
    variant.tables().card[cards.trailing_zeros() as usize]
}

/// Whether there is one card in a set that is not empty.
fn is_single(cards: u32) -> bool {
    cards & cards.wrapping_sub(1) == 0
}

/// How many copies of each card are neither played nor discarded, and what the fireworks need.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Cards on their stacks.
    pub played: CardSet,
    /// Cards that are next on their stacks.
    pub playable: CardSet,
    /// Cards of which at least one, two and three copies are left.
    pub left: [CardSet; 3],
}

impl Tally {
    fn new(variant: &Variant) -> Tally {
        let with_copies = |count: u8| {
            let indices = variant.card_kinds().enumerate();
            indices.filter(move |&(_, card)| variant.copies(card) >= count).map(|(index, _)| index)
        };
        Tally {
            played: CardSet::EMPTY,
            playable: CardSet(variant.tables().rank_cards[0]),
            left: [1, 2, 3].map(|count| with_copies(count).collect()),
        }
    }

    /// Cards that are not played and of which one copy is left.
    pub fn critical(&self) -> CardSet {
        self.left[0] - self.left[1] - self.played
    }

    /// A copy of this card is discarded, or added to its firework.
    pub fn take(&mut self, variant: &Variant, card: Card, added: bool) {
        let mut copy = CardSet::of(variant.card_index(card));
        if added {
            let above = CardSet(copy.0 << 1 & variant.tables().suit_cards[card.suit.index()]);
            self.played |= copy;
            self.playable = (self.playable - copy) | above;
        }
        for cards in self.left.iter_mut().rev() {
            let taken = copy & *cards;
            *cards -= taken;
            copy -= taken;
        }
    }
}

/// The notes on the whole table.
#[derive(Clone, Debug)]
pub(super) struct Notes {
    full_tally: Tally,
    /// The copies that are left.
    pub tally: Tally,
    /// Each seat's hand.
    pub hands: [HandNotes; MAX_PLAYERS],
}

impl Notes {
    /// Notes on a game that is yet to start.
    pub fn new(variant: &Variant) -> Notes {
        let full_tally = Tally::new(variant);
        let mut notes = Notes { full_tally, tally: full_tally, hands: Default::default() };
        notes.start(variant);
        notes
    }

    /// A game is dealt.
    pub fn start(&mut self, variant: &Variant) {
        let possible = [variant.tables().all_cards as u32; LANES];
        let held = SlotSet::first_slots(variant.hand_size().into());
        let hand = HandNotes { possible, held, ..HandNotes::default() };
        self.hands = [hand; MAX_PLAYERS];
        self.tally = self.full_tally;
    }

    /// A card leaves a hand and another one is drawn, as long as there is a deck.
    pub fn replace(&mut self, before: &View<'_>, seat: usize, slot: usize) {
        let hand = &mut self.hands[seat];
        hand.remove(slot);
        if before.deck_size() > 0 {
            hand.draw(before.variant());
        }
    }

    /// A card was played, of which there are other copies: slots that may hold one need not be
    /// playable any more. Those in `spare` are left alone.
    pub fn doubt(&mut self, played: usize, spare: impl Fn(&HandNotes) -> SlotSet) {
        for hand in &mut self.hands {
            for slot in (hand.playable - spare(hand)).iter() {
                if hand.possible(slot).contains(played) {
                    hand.playable -= SlotSet::of(slot);
                }
            }
        }
    }
}
