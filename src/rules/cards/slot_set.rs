//! A set of slots of one hand in one byte.

use serde::{Deserialize, Serialize};

use crate::rules::cards::bit_set::bit_set;
use crate::rules::cards::select::BitIndices;
use crate::rules::limits::MAX_HAND_SIZE;
use crate::rules::small_index::{IndexError, Slot};

/// A set of slots of one hand: bit `s` is slot `s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct SlotSet(pub(crate) u8);

impl TryFrom<u8> for SlotSet {
    type Error = IndexError;

    /// The set with these bits.
    ///
    /// # Errors
    /// [`IndexError`] for the bit of a slot that no hand has.
    fn try_from(bits: u8) -> Result<SlotSet, IndexError> {
        if let Some(highest) = bits.checked_ilog2() {
            Slot::try_from(highest as u8)?;
        }
        Ok(SlotSet(bits))
    }
}

impl From<SlotSet> for u8 {
    fn from(set: SlotSet) -> u8 {
        set.0
    }
}

impl SlotSet {
    /// The set of one slot.
    #[must_use]
    pub const fn of(slot: Slot) -> SlotSet {
        SlotSet(1 << slot.index())
    }

    /// The slots of a hand of this size.
    ///
    /// # Panics
    /// If the size is above [`MAX_HAND_SIZE`].
    #[must_use]
    pub const fn first_slots(size: usize) -> SlotSet {
        assert!(size <= MAX_HAND_SIZE, "no hand is so large");
        SlotSet(((1u16 << size) - 1) as u8)
    }

    /// Whether the slot is in the set.
    #[must_use]
    pub const fn contains(self, slot: Slot) -> bool {
        self.0 >> slot.index() & 1 == 1
    }

    /// Number of slots in the set.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The oldest of the slots.
    #[must_use]
    pub const fn oldest(self) -> Option<Slot> {
        if self.0 == 0 { None } else { Some(Slot::new_unchecked(self.0.trailing_zeros() as usize)) }
    }

    /// The newest of the slots.
    #[must_use]
    pub const fn newest(self) -> Option<Slot> {
        if self.0 == 0 { None } else { Some(Slot::new_unchecked(self.0.ilog2() as usize)) }
    }

    /// The set after the card in this slot has left the hand: newer cards move down by one slot.
    #[must_use]
    pub const fn closed_up(self, slot: Slot) -> SlotSet {
        let older = (1 << slot.index()) - 1;
        SlotSet(self.0 & older | self.0 >> 1 & !older)
    }

    /// The slots in ascending order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Slot> {
        BitIndices(self.0.into()).map(Slot::new_unchecked)
    }
}

impl FromIterator<Slot> for SlotSet {
    fn from_iter<I: IntoIterator<Item = Slot>>(slots: I) -> SlotSet {
        slots.into_iter().fold(SlotSet::EMPTY, |set, slot| set | SlotSet::of(slot))
    }
}

bit_set!(SlotSet);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_close_up_when_a_card_leaves() {
        let slots = SlotSet(0b10_1101);
        assert_eq!(slots.closed_up(Slot::ALL[0]), SlotSet(0b1_0110));
        assert_eq!(slots.closed_up(Slot::ALL[2]), SlotSet(0b1_0101));
        assert_eq!(slots.closed_up(Slot::ALL[5]), SlotSet(0b0_1101));
        assert_eq!((slots.oldest(), slots.newest()), (Some(Slot::ALL[0]), Some(Slot::ALL[5])));
        assert_eq!((SlotSet::EMPTY.oldest(), SlotSet::EMPTY.newest()), (None, None));
        assert!(slots.iter().eq([0, 2, 3, 5].map(|slot| Slot::ALL[slot])));
    }

    #[test]
    fn a_set_is_made_of_slots_and_of_bits() {
        let slots = [1, 2, 4].map(|slot| Slot::ALL[slot]);
        let set: SlotSet = slots.into_iter().rev().collect();
        assert!(set.iter().eq(slots) && set.contains(Slot::ALL[4]) && !set.contains(Slot::OLDEST));
        assert_eq!((set.iter().len(), set.len()), (3, 3));
        assert_eq!(SlotSet::try_from(0b1_0110), Ok(set));
        let refused = SlotSet::try_from(0b100_0000).unwrap_err().to_string();
        assert_eq!(refused, "slot 6 is not allowed: expected 0 to 5");
    }
}
