//! The distance from one seat to another.

use super::limits::MAX_PLAYERS;
use super::small_index::place;
use super::variant::Variant;

place!(
    /// The distance from the observer's seat to another one, clockwise: 1 is the next player, and
    /// [`Offset::OWN`] the observer itself.
    Offset,
    MAX_PLAYERS,
    "offset",
    "a number from 0 to 4"
);

impl Offset {
    /// The observer's own seat.
    pub const OWN: Offset = Offset(0);

    /// The next player's seat.
    pub const NEXT: Offset = Offset(1);
}

impl Variant {
    /// The offsets of the teammates, the next player first.
    pub fn teammates(&self) -> impl DoubleEndedIterator<Item = Offset> + Clone + use<> {
        (1..usize::from(self.players())).map(Offset::at)
    }
}
