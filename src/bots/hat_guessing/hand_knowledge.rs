//! What is known about a hand, and what a hint changes.

use super::copies::{Copies, CopiesOutlook};
use crate::bots::base_game::HAND_SIZE;
use crate::rules::{Hint, Slot, SlotSet};

/// What is known about a hand: the copies that may be in each slot, the oldest slot first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HandKnowledge {
    /// Unused slots are empty.
    pub slots: [Copies; HAND_SIZE],
    pub size: usize,
}

impl HandKnowledge {
    /// A hand of this many cards, each of which may be any of these copies.
    pub fn of(size: usize, copies: Copies) -> HandKnowledge {
        let mut hand = HandKnowledge::default();
        (0..size).for_each(|_| hand.push(copies));
        hand
    }

    /// The slots that hold a card.
    pub fn cards(&self) -> &[Copies] {
        &self.slots[..self.size]
    }

    pub fn cards_mut(&mut self) -> &mut [Copies] {
        &mut self.slots[..self.size]
    }

    /// Adds the newest card, which may be any of these copies.
    pub fn push(&mut self, copies: Copies) {
        if let Some(slot) = self.slots.get_mut(self.size) {
            *slot = copies;
            self.size += 1;
        }
    }

    /// Removes the card in this slot.
    pub fn remove(&mut self, slot: usize) {
        // A plain loop over all slots is faster than `copy_within`, which calls the C library.
        for place in 0..HAND_SIZE - 1 {
            self.slots[place] = self.slots[place + usize::from(place >= slot)];
        }
        self.slots[HAND_SIZE - 1] = Copies::EMPTY;
        self.size -= 1;
    }

    /// Restricts all slots to the remaining copies.
    pub fn keep(&mut self, left: Copies) {
        self.slots.iter_mut().for_each(|copies| *copies &= left);
    }

    /// Applies the content of a hint that touched these slots.
    pub fn apply_hint(&mut self, hint: Hint, touched: SlotSet) {
        let matching = Copies::matching(hint);
        for (slot, copies) in self.cards_mut().iter_mut().enumerate() {
            if touched.contains(Slot::at(slot)) {
                *copies &= matching;
            } else {
                *copies -= matching;
            }
        }
    }

    /// The slots known to be dead, or to hold the same kind as another slot.
    pub fn useless(&self, outlook: &CopiesOutlook) -> SlotSet {
        let mut useless = 0;
        for (slot, &copies) in self.cards().iter().enumerate() {
            let is_duplicate = || {
                let mut others = (0..self.size).filter(|&other| other != slot);
                copies.is_one_kind() && others.any(|other| self.slots[other] == copies)
            };
            useless |= u8::from(copies.is_certainly(outlook.dead) || is_duplicate()) << slot;
        }
        SlotSet(useless)
    }
}
