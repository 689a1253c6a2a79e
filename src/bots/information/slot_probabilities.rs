//! The slots of a hand by the probability of something.

use crate::bots::common::base_game::HAND_SIZE;

/// Slots with a probability each, in ascending order; on ties the oldest first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SlotProbabilities {
    /// The bits of the probability, whose order is that of positive floats, and then the slot.
    keys: [u64; HAND_SIZE],
    size: usize,
}

impl SlotProbabilities {
    /// The bits of a key that hold the slot.
    const SLOT_BITS: u64 = 7;

    /// Adds a slot with probability `part / whole`, unless it is 0.
    pub fn add(&mut self, slot: usize, part: u32, whole: u32) {
        if part > 0 {
            let probability = part as f32 / whole as f32;
            self.insert(u64::from(probability.to_bits()) << 3 | slot as u64);
        }
    }

    fn insert(&mut self, key: u64) {
        let mut place = self.size;
        while place > 0 && self.keys[place - 1] > key {
            self.keys[place] = self.keys[place - 1];
            place -= 1;
        }
        self.keys[place] = key;
        self.size += 1;
    }

    /// Keeps at most this number of slots, those with the highest probabilities; on ties the
    /// oldest.
    pub fn keep_highest(&mut self, most: usize) {
        if self.size > most {
            let newest_first = self.with_reversed_slots();
            let mut kept = SlotProbabilities::default();
            for &key in &newest_first.keys[self.size - most..self.size] {
                kept.insert(key);
            }
            *self = kept.with_reversed_slots();
        }
    }

    /// The same probabilities, on ties with the newest slot first.
    fn with_reversed_slots(&self) -> SlotProbabilities {
        let mut reversed = SlotProbabilities::default();
        for &key in &self.keys[..self.size] {
            reversed.insert(key ^ SlotProbabilities::SLOT_BITS);
        }
        reversed
    }

    /// Slots and their probabilities.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f32)> {
        let keys = self.keys[..self.size].iter();
        keys.map(|&key| {
            ((key & SlotProbabilities::SLOT_BITS) as usize, f32::from_bits((key >> 3) as u32))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_are_kept_and_on_ties_the_oldest() {
        let mut probabilities = SlotProbabilities::default();
        for (slot, part, whole) in [(0, 1, 2), (1, 2, 3), (2, 3, 6), (3, 0, 7), (4, 1, 4)] {
            probabilities.add(slot, part, whole);
        }
        let slots = |probabilities: &SlotProbabilities| {
            probabilities.iter().map(|(slot, _)| slot).collect::<Vec<_>>()
        };
        assert_eq!(slots(&probabilities), [4, 0, 2, 1]);
        probabilities.keep_highest(3);
        assert_eq!(slots(&probabilities), [0, 2, 1]);
        probabilities.keep_highest(2);
        assert_eq!(slots(&probabilities), [0, 1]);
    }
}
