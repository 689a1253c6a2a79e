//! A seat at the table.

use super::limits::MAX_PLAYERS;
use super::small_index::numbered;

numbered!(
    #[derive(Default)]
    /// A seat at the table, counted clockwise from 0.
    ///
    /// ```
    /// use starmine::rules::{Offset, Parameters, Seat, Variant};
    ///
    /// let variant = Variant::new(Parameters { players: 3, ..Parameters::default() })?;
    /// let (first, last) = (Seat::ALL[0], Seat::ALL[2]);
    /// assert!(variant.seats().eq([first, Seat::ALL[1], last]));
    /// assert_eq!(variant.seat_after(last, Offset::ALL[1]), first);
    /// assert_eq!(("2".parse(), last.to_string()), (Ok(last), "2".to_owned()));
    /// assert!(Seat::try_from(5).is_err());
    /// # Ok::<(), starmine::rules::VariantError>(())
    /// ```
    Seat,
    MAX_PLAYERS,
    "seat"
);

impl Seat {
    /// Seat 0, which starts unless the variant has a random start player.
    pub const FIRST: Seat = Seat(0);
}
