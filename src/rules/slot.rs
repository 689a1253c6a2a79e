//! A slot of a hand.

use super::limits::MAX_HAND_SIZE;
use super::small_index::numbered;

numbered!(
    #[derive(Default)]
    /// A slot of a hand. [`Slot::OLDEST`] has the oldest card; when a card leaves, the newer ones move
    /// down by one slot.
    Slot,
    MAX_HAND_SIZE,
    "slot"
);

impl Slot {
    /// The slot of the oldest card.
    pub const OLDEST: Slot = Slot(0);
}
