//! What everybody at the table can tell from what was said and played, each hand's owner too. Bots
//! that read hints by the same convention keep the same notes.

use std::cmp::Reverse;

use crate::rules::{Card, CardSet, MAX_HAND_SIZE, MAX_PLAYERS, SlotSet, Variant};

/// What the table makes of the cards in one hand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HandNotes {
    /// The cards that each slot may hold, hints and their meaning considered. Never empty.
    pub possible: [CardSet; MAX_HAND_SIZE],
    /// Slots whose suit is certain.
    pub suit_known: SlotSet,
    /// Slots whose rank is certain.
    pub rank_known: SlotSet,
    /// Slots that were said or found to be playable.
    pub playable: SlotSet,
    /// Slots that were said or found to be the last copy of a card.
    pub critical: SlotSet,
    /// Slots that were found to be of no use.
    pub dead: SlotSet,
}

impl HandNotes {
    /// Narrows these slots down to cards that a hint says or means. What was said last counts when
    /// it contradicts what was thought before.
    pub fn narrow(&mut self, slots: SlotSet, cards: CardSet) {
        for slot in slots.iter() {
            let left = self.possible[slot] & cards;
            self.possible[slot] = if left.is_empty() { cards } else { left };
        }
    }

    /// Narrows a hand of this size by what a hint says itself: these slots hold such cards, and the
    /// others do not.
    pub fn told(&mut self, size: usize, slots: SlotSet, cards: CardSet) {
        self.narrow(slots, cards);
        for slot in (SlotSet::first_slots(size) - slots).iter() {
            let left = self.possible[slot] - cards;
            if !left.is_empty() {
                self.possible[slot] = left;
            }
        }
    }

    /// The card in this slot leaves, and another one is drawn.
    fn replace(&mut self, slot: usize, unknown: CardSet) {
        for index in 0..MAX_HAND_SIZE - 1 {
            let from = index + usize::from(index >= slot);
            self.possible[index] = self.possible[from];
        }
        self.possible[MAX_HAND_SIZE - 1] = unknown;
        for marks in [
            &mut self.suit_known,
            &mut self.rank_known,
            &mut self.playable,
            &mut self.critical,
            &mut self.dead,
        ] {
            *marks = marks.closed_up(slot);
        }
    }

    /// The card that the slot holds if it is certain, or one of those that it may hold.
    pub fn likely(&self, variant: &Variant, slot: usize) -> Card {
        variant.tables().card[self.possible[slot].0.trailing_zeros() as usize]
    }

    /// 1 for the lowest rank, and so on; 0 when the rank is not certain.
    fn rank_number(&self, variant: &Variant, slot: usize) -> usize {
        if self.rank_known.contains(slot) { self.likely(variant, slot).rank.index() + 1 } else { 0 }
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
        let unknown = CardSet(variant.tables().all_cards);
        let hand = HandNotes { possible: [unknown; MAX_HAND_SIZE], ..HandNotes::default() };
        self.hands = [hand; MAX_PLAYERS];
        self.tally = self.full_tally;
    }

    /// A seat plays or discards the card in this slot.
    pub fn remove(&mut self, variant: &Variant, seat: usize, slot: usize) {
        self.hands[seat].replace(slot, CardSet(variant.tables().all_cards));
    }

    /// A card was played, of which there are other copies: slots that may hold one need not be
    /// playable any more. Those in `spare` are left alone.
    pub fn doubt(&mut self, played: usize, spare: impl Fn(&HandNotes) -> SlotSet) {
        for hand in &mut self.hands {
            for slot in (hand.playable - spare(hand)).iter() {
                if hand.possible[slot].contains(played) {
                    hand.playable -= SlotSet::of(slot);
                }
            }
        }
    }
}
