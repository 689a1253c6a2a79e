//! A set of slots of one hand in one byte.

use serde::{Deserialize, Serialize};

use super::bit_set::bit_set;
use super::select::BitIndices;
use super::slot::Slot;

/// A set of slots of one hand: bit `s` is slot `s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SlotSet(pub(crate) u8);

impl SlotSet {
    /// The set of one slot.
    #[must_use]
    pub const fn of(slot: Slot) -> SlotSet {
        SlotSet(1 << slot.index())
    }

    /// The slots of a hand of this size, at most [`MAX_HAND_SIZE`](super::MAX_HAND_SIZE).
    #[must_use]
    pub const fn first_slots(size: usize) -> SlotSet {
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
        if self.0 == 0 { None } else { Some(Slot::at(self.0.trailing_zeros() as usize)) }
    }

    /// The newest of the slots.
    #[must_use]
    pub const fn newest(self) -> Option<Slot> {
        if self.0 == 0 { None } else { Some(Slot::at(self.0.ilog2() as usize)) }
    }

    /// The set after the card in this slot has left the hand: newer cards move down by one slot.
    #[must_use]
    pub const fn closed_up(self, slot: Slot) -> SlotSet {
        let older = (1 << slot.index()) - 1;
        SlotSet(self.0 & older | self.0 >> 1 & !older)
    }

    /// The slots in ascending order.
    pub fn iter(self) -> impl Iterator<Item = Slot> {
        BitIndices(self.0.into()).map(Slot::at)
    }
}

bit_set!(SlotSet);

impl FromIterator<Slot> for SlotSet {
    fn from_iter<I: IntoIterator<Item = Slot>>(slots: I) -> SlotSet {
        slots.into_iter().fold(SlotSet::EMPTY, |set, slot| set | SlotSet::of(slot))
    }
}

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
}
