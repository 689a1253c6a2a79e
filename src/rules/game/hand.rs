//! The cards of one seat with the knowledge of each.

use serde::{Deserialize, Serialize};

use crate::rules::cards::knowledge::Knowledge;
use crate::rules::limits::MAX_HAND_SIZE;

/// The cards of one seat, the oldest first, each with what the hints say about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hand {
    pub knowledge: [Knowledge; MAX_HAND_SIZE],
    pub cards: [u8; MAX_HAND_SIZE],
    pub size: u8,
}

impl Hand {
    pub(in crate::rules) fn push(&mut self, card: u8, knowledge: Knowledge) {
        let slot = usize::from(self.size);
        self.cards[slot] = card;
        self.knowledge[slot] = knowledge;
        self.size += 1;
    }

    pub(in crate::rules) fn remove(&mut self, slot: usize) -> u8 {
        let card = self.cards[slot];
        // Each slot from the removed one on takes its successor. `copy_within` would call into the
        // C library for a few bytes.
        for index in 0..MAX_HAND_SIZE - 1 {
            let from = index + usize::from(index >= slot);
            self.cards[index] = self.cards[from];
            self.knowledge[index] = self.knowledge[from];
        }
        self.size -= 1;
        self.cards[usize::from(self.size)] = 0;
        self.knowledge[usize::from(self.size)] = Knowledge::default();
        card
    }

    pub(crate) fn cards(&self) -> &[u8] {
        &self.cards[..usize::from(self.size)]
    }
}
