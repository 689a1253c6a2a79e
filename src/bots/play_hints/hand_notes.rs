//! The common knowledge about all hands: what every seat, the owner included, can conclude from
//! hints and plays. Bots that share a convention keep identical notes.

use std::cmp::Reverse;

use crate::bots::common::copy_counts::CopyCounts;
use crate::rules::{
    Card, CardSet, Hint, MAX_HAND_SIZE, MAX_PLAYERS, Seat, Slot, SlotSet, Variant, View,
};

/// A hand's words, padded to a whole number of SIMD vectors.
const LANES: usize = 8;

/// The common knowledge about one hand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HandNotes {
    /// The kinds that each slot may hold by the hints and their meaning. Never empty. All kinds
    /// fit 32 bits.
    possible: [u32; LANES],
    /// Slots that hold a card.
    pub held: SlotSet,
    /// Slots whose kind is known.
    pub certain: SlotSet,
    /// Slots that a hint marked, or a deduction proved, to be playable.
    pub playable: SlotSet,
    /// Slots that a hint marked, or a deduction proved, to be the last copy of a card.
    pub critical: SlotSet,
    /// Slots known to be dead.
    pub dead: SlotSet,
}

impl HandNotes {
    /// The kinds that the slot may hold.
    pub fn possible(&self, slot: Slot) -> CardSet {
        CardSet(self.possible[slot.index()].into())
    }

    /// Restricts these slots to the given kinds. Where that contradicts earlier conclusions, the
    /// latest information wins.
    pub fn narrow(&mut self, slots: SlotSet, cards: CardSet) {
        for slot in slots.iter() {
            let left = self.possible[slot.index()] & cards.0 as u32;
            self.possible[slot.index()] = if left == 0 { cards.0 as u32 } else { left };
        }
    }

    /// Removes these kinds from these slots, except where nothing would be left.
    pub fn exclude(&mut self, slots: SlotSet, cards: CardSet) {
        for slot in slots.iter() {
            let left = self.possible[slot.index()] & !cards.0 as u32;
            self.possible[slot.index()] =
                if left == 0 { self.possible[slot.index()] } else { left };
        }
    }

    /// Removes these kinds from all slots of unknown kind, except where nothing would be left.
    pub fn exclude_from_uncertain(&mut self, cards: CardSet) {
        for possible in &mut self.possible {
            let left = *possible & !cards.0 as u32;
            *possible = if is_single(*possible) | (left == 0) { *possible } else { left };
        }
    }

    /// The slots whose possible kinds satisfy the predicate.
    fn filter(&self, holds: impl Fn(u32) -> bool) -> SlotSet {
        let slots = self.possible[..MAX_HAND_SIZE].iter().rev();
        self.held & SlotSet(slots.fold(0, |slots, &cards| slots << 1 | u8::from(holds(cards))))
    }

    /// Slots that certainly hold one of these kinds.
    pub fn within(&self, cards: CardSet) -> SlotSet {
        self.filter(|possible| possible & !cards.0 as u32 == 0)
    }

    /// Slots that certainly hold one of these kinds, or whose kind is known.
    pub fn within_or_certain(&self, cards: CardSet) -> SlotSet {
        self.filter(|possible| (possible & !cards.0 as u32 == 0) | is_single(possible))
    }

    /// Slots whose suit is known.
    pub fn suit_known(&self, variant: &Variant) -> SlotSet {
        let tables = variant.tables();
        self.filter(|cards| {
            cards & !tables.suit_cards[first(variant, cards).suit.index()] as u32 == 0
        })
    }

    /// Slots whose rank is known.
    pub fn rank_known(&self, variant: &Variant) -> SlotSet {
        let tables = variant.tables();
        self.filter(|cards| {
            cards & !tables.rank_cards[first(variant, cards).rank.index()] as u32 == 0
        })
    }

    /// Removes the card in this slot.
    fn remove(&mut self, slot: Slot) {
        for index in 0..MAX_HAND_SIZE - 1 {
            self.possible[index] = self.possible[index + usize::from(index >= slot.index())];
        }
        self.held = self.held.closed_up(slot);
        self.certain = self.certain.closed_up(slot);
        self.playable = self.playable.closed_up(slot);
        self.critical = self.critical.closed_up(slot);
        self.dead = self.dead.closed_up(slot);
    }

    /// Adds an unknown card.
    fn draw(&mut self, variant: &Variant) {
        let slot = Slot::new_unchecked(self.held.len());
        self.possible[slot.index()] = variant.tables().all_cards as u32;
        self.held |= SlotSet::of(slot);
    }

    /// The first kind that the slot may hold.
    pub fn first_possible(&self, variant: &Variant, slot: Slot) -> Card {
        first(variant, self.possible[slot.index()])
    }

    /// The rank of the slot, from 1; 0 if it is unknown.
    fn rank_number(&self, variant: &Variant, slot: Slot) -> usize {
        let rank = self.first_possible(variant, slot).rank.index();
        let is_known = self.possible(slot).is_subset(CardSet(variant.tables().rank_cards[rank]));
        if is_known { rank + 1 } else { 0 }
    }

    /// The playable slot of the lowest rank. Unknown ranks count as the lowest.
    pub fn lowest_playable(&self, variant: &Variant) -> Option<Slot> {
        self.playable.iter().min_by_key(|&slot| self.rank_number(variant, slot))
    }

    /// The slot that the owner will discard unless it is warned. `None` if it has a card to play or
    /// a dead one, or only last copies.
    pub fn next_discard(&self) -> Option<Slot> {
        let is_safe = !self.playable.is_empty() || !self.dead.is_empty();
        if is_safe { None } else { (self.held - self.critical).oldest() }
    }

    /// The oldest of these slots with the highest rank.
    pub fn highest(&self, variant: &Variant, slots: SlotSet) -> Option<Slot> {
        slots.iter().min_by_key(|&slot| Reverse(self.rank_number(variant, slot)))
    }
}

/// The kinds that match a hint.
pub(super) fn hint_cards(variant: &Variant, hint: Hint) -> CardSet {
    let tables = variant.tables();
    CardSet(match hint {
        Hint::Color(suit) => tables.suit_cards[suit.index()],
        Hint::Rank(rank) => tables.rank_cards[rank.index()],
    })
}

/// The first kind of a non-empty set.
fn first(variant: &Variant, cards: u32) -> Card {
    variant.card_unchecked(cards.trailing_zeros() as usize)
}

/// Whether a non-empty set has one element.
fn is_single(cards: u32) -> bool {
    cards & cards.wrapping_sub(1) == 0
}

/// The copies that are neither played nor discarded, and the state of the stacks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RemainingCopies {
    /// Kinds on their stacks.
    pub played: CardSet,
    /// Kinds that are next on their stacks.
    pub playable: CardSet,
    /// The copies of each kind that are left.
    pub left: CopyCounts,
}

impl RemainingCopies {
    /// Unplayed kinds with one copy left.
    pub fn critical(&self) -> CardSet {
        self.left.exactly_one() - self.played
    }

    /// A copy of this card was discarded, or `added` to its stack.
    pub fn remove(&mut self, variant: &Variant, card: Card, added: bool) {
        let copy = CardSet::of(variant.card_index_unchecked(card));
        if added {
            let above = CardSet(copy.0 << 1 & variant.tables().suit_cards[card.suit.index()]);
            self.played |= copy;
            self.playable = (self.playable - copy) | above;
        }
        self.left.remove(copy);
    }
}

/// The common knowledge about the whole table.
#[derive(Clone, Debug, Default)]
pub(super) struct TableNotes {
    /// The copies that are left in the current game.
    pub remaining: RemainingCopies,
    /// By seat.
    pub hands: [HandNotes; MAX_PLAYERS],
}

impl TableNotes {
    /// Resets the notes for a new game.
    pub fn start(&mut self, variant: &Variant) {
        let possible = [variant.tables().all_cards as u32; LANES];
        let held = SlotSet::first_slots(variant.hand_size().into());
        let hand = HandNotes { possible, held, ..HandNotes::default() };
        self.hands = [hand; MAX_PLAYERS];
        self.remaining = RemainingCopies {
            played: CardSet::EMPTY,
            playable: CardSet(variant.tables().rank_cards[0]),
            left: CopyCounts::of_deck(variant),
        };
    }

    /// A card left a hand; a new one was drawn unless the deck was empty.
    pub fn replace(&mut self, before: &View<'_>, seat: Seat, slot: Slot) {
        let hand = &mut self.hands[seat.index()];
        hand.remove(slot);
        if before.deck_size() > 0 {
            hand.draw(before.variant());
        }
    }

    /// A card of the kind `played` was played. Slots that may hold another copy of it lose their
    /// playable mark, except those in `kept`.
    pub fn unmark_copies(&mut self, played: usize, kept: impl Fn(&HandNotes) -> SlotSet) {
        for hand in &mut self.hands {
            for slot in (hand.playable - kept(hand)).iter() {
                if hand.possible(slot).contains(played) {
                    hand.playable -= SlotSet::of(slot);
                }
            }
        }
    }
}
