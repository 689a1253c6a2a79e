//! What is known about a hand, and what a hint changes.

use crate::bots::common::base_game::{self, HAND_SIZE};
use crate::bots::common::copy_counts::CopyCounts;
use crate::rules::{CardSet, Hint, Outlook, Slot, SlotSet};

/// What the fireworks and the discard pile tell about the cards that are left.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CardsLeft {
    /// The copies that are neither played nor discarded.
    pub copies: CopyCounts,
    pub outlook: Outlook,
}

/// Whether a card that may be of these kinds is certainly one of the others. Of a card that may be of
/// no kind nothing is certain.
pub(super) const fn is_certainly(kinds: CardSet, others: CardSet) -> bool {
    !kinds.is_empty() && kinds.is_subset(others)
}

/// What is known about a hand: the kinds that may be in each slot, the oldest slot first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HandKnowledge {
    /// Unused slots are empty.
    pub slots: [CardSet; HAND_SIZE],
    pub size: usize,
}

impl HandKnowledge {
    /// A hand of this many cards, each of which may be of any of these kinds.
    pub fn of(size: usize, kinds: CardSet) -> HandKnowledge {
        let mut hand = HandKnowledge::default();
        (0..size).for_each(|_| hand.push(kinds));
        hand
    }

    /// The slots that hold a card.
    pub fn cards(&self) -> &[CardSet] {
        &self.slots[..self.size]
    }

    pub fn cards_mut(&mut self) -> &mut [CardSet] {
        &mut self.slots[..self.size]
    }

    /// Adds the newest card, which may be of any of these kinds.
    pub fn push(&mut self, kinds: CardSet) {
        if let Some(slot) = self.slots.get_mut(self.size) {
            *slot = kinds;
            self.size += 1;
        }
    }

    /// Removes the card in this slot.
    pub fn remove(&mut self, slot: usize) {
        // A plain loop over all slots is faster than `copy_within`, which calls the C library.
        for place in 0..HAND_SIZE - 1 {
            self.slots[place] = self.slots[place + usize::from(place >= slot)];
        }
        self.slots[HAND_SIZE - 1] = CardSet::EMPTY;
        self.size -= 1;
    }

    /// Restricts all slots to the kinds that are left.
    pub fn keep(&mut self, left: CardSet) {
        self.slots.iter_mut().for_each(|kinds| *kinds &= left);
    }

    /// Applies the content of a hint that touched these slots.
    pub fn apply_hint(&mut self, hint: Hint, touched: SlotSet) {
        let matching = base_game::of_hint(hint);
        for (slot, kinds) in self.cards_mut().iter_mut().enumerate() {
            if touched.contains(Slot::new_unchecked(slot)) {
                *kinds &= matching;
            } else {
                *kinds -= matching;
            }
        }
    }

    /// The slots known to be dead, or to hold the same kind as another slot.
    pub fn useless(&self, left: &CardsLeft) -> SlotSet {
        let mut useless = 0;
        for (slot, &kinds) in self.cards().iter().enumerate() {
            let is_duplicate = || {
                let mut others = (0..self.size).filter(|&other| other != slot);
                kinds.single().is_some() && others.any(|other| self.slots[other] == kinds)
            };
            useless |= u8::from(is_certainly(kinds, left.outlook.dead) || is_duplicate()) << slot;
        }
        SlotSet(useless)
    }
}
