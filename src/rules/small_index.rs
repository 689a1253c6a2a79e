//! Small closed types: suits, ranks, seats, slots, offsets and actions are numbers that count from 0. Seats, offsets
//! and slots are nothing more; the others have files of their own.

use thiserror::Error;

use super::limits::{MAX_HAND_SIZE, MAX_PLAYERS};

/// A number that is not the index of a suit, a rank, a seat, a slot, an offset or an action.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{kind} {index} is not allowed: expected 0 to {}", count - 1)]
pub struct IndexError {
    pub(in crate::rules) kind: &'static str,
    pub(in crate::rules) index: u8,
    pub(in crate::rules) count: usize,
}

/// Gives a type around a `u8` its values and its conversions.
macro_rules! small_index {
    ($type:ident, $count:expr, $kind:literal) => {
        impl $type {
            /// All values in order, including those that smaller variants do not use.
            pub const ALL: [$type; $count] = {
                let mut all = [$type(0); $count];
                let mut index = 0;
                while index < $count {
                    all[index] = $type(index as u8);
                    index += 1;
                }
                all
            };

            /// The value with this index, or `None` if no variant has it.
            #[must_use]
            pub const fn new(index: usize) -> Option<$type> {
                if index < $count { Some($type(index as u8)) } else { None }
            }

            /// The index, from 0.
            #[must_use]
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl TryFrom<u8> for $type {
            type Error = crate::rules::small_index::IndexError;

            fn try_from(index: u8) -> Result<$type, crate::rules::small_index::IndexError> {
                let error =
                    crate::rules::small_index::IndexError { kind: $kind, index, count: $count };
                $type::new(index.into()).ok_or(error)
            }
        }

        impl From<$type> for u8 {
            #[inline]
            fn from(value: $type) -> u8 {
                value.0
            }
        }

        impl From<$type> for usize {
            #[inline]
            fn from(value: $type) -> usize {
                value.index()
            }
        }
    };
}

/// Defines a type whose text and whose form in stored files are its number, such as a seat.
macro_rules! numbered {
    ($(#[$docs:meta])* $type:ident, $count:expr, $kind:literal) => {
        $(#[$docs])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "u8", into = "u8")]
        #[repr(transparent)]
        pub struct $type(u8);

        crate::rules::small_index::small_index!($type, $count, $kind);

        impl $type {
            /// The value with this index, which the caller knows to be in the range.
            #[inline]
            pub(crate) const fn new_unchecked(index: usize) -> $type {
                debug_assert!(index < $count);
                $type(index as u8)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(formatter)
            }
        }
    };
}

pub(in crate::rules) use {numbered, small_index};

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
