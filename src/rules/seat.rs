//! A seat at the table.

use super::deck::DeckError;
use super::limits::MAX_PLAYERS;
use super::offset::Offset;
use super::small_index::place;
use super::variant::Variant;

place!(
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
    "seat",
    "a number from 0 to 4"
);

impl Variant {
    /// The seats at the table, from 0.
    pub fn seats(&self) -> impl ExactSizeIterator<Item = Seat> + Clone + use<> {
        Seat::ALL.into_iter().take(self.players().into())
    }

    /// The seat with this number, if it may start a game.
    pub(crate) fn start_player(&self, number: i64) -> Result<Seat, DeckError> {
        let error = DeckError::WrongStartPlayer { start_player: number, players: self.players() };
        self.seats().find(|&seat| i64::from(seat.0) == number).ok_or(error)
    }

    /// The seat at this offset from another one. Both are below the number of players.
    #[must_use]
    #[inline]
    pub const fn seat_after(&self, seat: Seat, offset: Offset) -> Seat {
        let (sum, players) = (seat.0 + offset.index() as u8, self.players());
        Seat(if sum >= players { sum - players } else { sum })
    }

    /// The offset of a seat from another one. Both are below the number of players.
    #[must_use]
    #[inline]
    pub const fn offset_between(&self, from: Seat, to: Seat) -> Offset {
        let distance = if to.0 >= from.0 { to.0 - from.0 } else { to.0 + self.players() - from.0 };
        Offset::at(distance as usize)
    }
}
