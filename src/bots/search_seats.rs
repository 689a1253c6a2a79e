//! How many seats of a table may search.

use thiserror::Error;

use crate::rules::Seat;

/// How many seats of a table may search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchSeats {
    /// One: the bot believes that every other seat plays by the blueprint.
    One,
    /// All: other seats may search too, if their bots allow it as well.
    All,
}

/// Several seats of a table search.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "seats {first} and {second} both search: expected one such seat, since each takes the others for the blueprint, or \
     \"seats=all\" or \"method=mirror\" in the text of each"
)]
pub struct SeveralSearchesError {
    first: Seat,
    second: Seat,
}

impl SeveralSearchesError {
    /// Two of the seats that search.
    #[must_use]
    pub const fn seats(&self) -> [Seat; 2] {
        [self.first, self.second]
    }

    /// Checks the seats of a table: if several search, each must allow it. The items are
    /// [`Bot::search_seats`](super::Bot::search_seats) of the seats in their order.
    pub(crate) fn check(
        seats: impl IntoIterator<Item = Option<SearchSeats>>,
    ) -> Result<(), SeveralSearchesError> {
        let seated = Seat::ALL.into_iter().zip(seats);
        let searches = seated.filter_map(|(seat, searches)| Some((seat, searches?)));
        let searches: Vec<(Seat, SearchSeats)> = searches.collect();
        match searches[..] {
            [(first, _), (second, _), ..]
                if searches.iter().any(|&(_, seats)| seats == SearchSeats::One) =>
            {
                Err(SeveralSearchesError { first, second })
            }
            _ => Ok(()),
        }
    }
}
