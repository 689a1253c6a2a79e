use super::board::Board;
use super::copies::Copies;
use crate::rules::{Hint, SlotSet};

/// What everybody knows of one seat's cards: for each slot the copies that may be in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hand {
    slots: [Copies; 5],
    len: usize,
}

impl Hand {
    /// So many cards that nothing is known of.
    pub fn unknown(len: usize) -> Hand {
        let mut hand = Hand { slots: [Copies::NONE; 5], len: len.min(5) };
        hand.slots_mut().fill(Copies::ALL);
        hand
    }

    /// The slots, the oldest first.
    pub fn slots(&self) -> &[Copies] {
        &self.slots[..self.len]
    }

    /// The same, and something without meaning for slots that are missing.
    pub const fn all(&self) -> [Copies; 5] {
        self.slots
    }

    pub fn slots_mut(&mut self) -> &mut [Copies] {
        &mut self.slots[..self.len]
    }

    /// The card of a slot left the hand.
    pub fn remove(&mut self, slot: usize) {
        if slot < self.len {
            for index in 0..4 {
                self.slots[index] = self.slots[index + usize::from(index >= slot)];
            }
            self.len -= 1;
        }
    }

    /// Only these copies are left.
    pub fn keep(&mut self, left: Copies) {
        for copies in &mut self.slots {
            *copies &= left;
        }
    }

    /// A card was drawn that is one of these.
    pub fn push(&mut self, copies: Copies) {
        if let Some(slot) = self.slots.get_mut(self.len) {
            *slot = copies;
            self.len += 1;
        }
    }

    /// A hint pointed out some slots and passed over the others.
    pub fn tell(&mut self, hint: Hint, touched: SlotSet) {
        let matching = Copies::of_hint(hint);
        for (slot, copies) in self.slots_mut().iter_mut().enumerate() {
            if touched.contains(slot) {
                *copies &= matching;
            } else {
                *copies -= matching;
            }
        }
    }

    /// The slots that hold dead cards or known cards of which the hand has another one.
    pub fn useless(&self, board: &Board) -> SlotSet {
        let mut useless = 0;
        let mut known = Copies::NONE;
        for (slot, &copies) in self.slots().iter().enumerate() {
            if copies.is_certainly(board.dead) {
                useless |= 1 << slot;
            } else if copies.is_one_kind() {
                if copies.meets(known) {
                    let first = self.slots().iter().position(|&other| other == copies);
                    useless |= 1 << slot | 1 << first.unwrap_or(slot);
                }
                known |= copies;
            }
        }
        SlotSet(useless)
    }
}
