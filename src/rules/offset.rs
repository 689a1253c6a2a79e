//! The distance from one seat to another.

use super::limits::MAX_PLAYERS;
use super::small_index::place;

place!(
    /// The distance from the observer's seat to another one, clockwise: 1 is the next player, and
    /// [`Offset::OWN`] the observer itself.
    Offset,
    MAX_PLAYERS,
    "offset"
);

impl Offset {
    /// The observer's own seat.
    pub const OWN: Offset = Offset(0);

    /// The next player's seat.
    pub const NEXT: Offset = Offset(1);
}
