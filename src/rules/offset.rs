//! The distance from one seat to another.

use super::limits::MAX_PLAYERS;
use super::small_index::numbered;

numbered!(
    #[derive(Default)]
    /// The distance from one seat to another, clockwise: from the observer in a view, from the mover
    /// in a hint. 1 is the next player, and [`Offset::OWN`] the seat itself.
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
