use super::hand::SLOTS;

/// Slots with a probability each, the lowest first, and of equal ones the oldest first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shares {
    /// A probability's bits, which are in the order of positive numbers, and then the slot.
    keys: [u64; SLOTS],
    size: usize,
}

impl Shares {
    /// Bits of a key that are the slot.
    const SLOT: u64 = 7;

    /// Adds a slot, unless its probability is zero.
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

    /// Leaves the slots with the highest probabilities, so many at most, and of equal ones the
    /// oldest.
    pub fn keep_highest(&mut self, most: usize) {
        if self.size > most {
            let newest_first = self.with_turned_slots();
            let mut kept = Shares::default();
            for &key in &newest_first.keys[self.size - most..self.size] {
                kept.insert(key);
            }
            *self = kept.with_turned_slots();
        }
    }

    fn with_turned_slots(&self) -> Shares {
        let mut turned = Shares::default();
        for &key in &self.keys[..self.size] {
            turned.insert(key ^ Shares::SLOT);
        }
        turned
    }

    /// The slots and their probabilities.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f32)> {
        let keys = self.keys[..self.size].iter();
        keys.map(|&key| ((key & Shares::SLOT) as usize, f32::from_bits((key >> 3) as u32)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_are_kept_and_of_equal_ones_the_oldest() {
        let mut shares = Shares::default();
        for (slot, part, whole) in [(0, 1, 2), (1, 2, 3), (2, 3, 6), (3, 0, 7), (4, 1, 4)] {
            shares.add(slot, part, whole);
        }
        let slots = |shares: &Shares| shares.iter().map(|(slot, _)| slot).collect::<Vec<_>>();
        assert_eq!(slots(&shares), [4, 0, 2, 1]);
        shares.keep_highest(3);
        assert_eq!(slots(&shares), [0, 2, 1]);
        shares.keep_highest(2);
        assert_eq!(slots(&shares), [0, 1]);
    }
}
