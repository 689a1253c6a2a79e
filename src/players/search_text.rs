//! The parts of a search's text. No part is checked here, and no file is read.

use thiserror::Error;

/// The parts of the text of a player that searches, such as `search: smart; rollouts=1000`.
///
/// Neither the blueprint nor the options are checked, so that no policy's file is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchText<'a> {
    /// The blueprint's text.
    pub blueprint: &'a str,
    /// The names and the values of the options, in their order.
    pub options: Vec<(&'a str, &'a str)>,
}

/// Several seats of a table search.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "seats {first} and {second} both search: expected one such seat, since each takes the others for the blueprint, or \
     \"seats=all\" or \"method=mirror\" in the text of each"
)]
pub struct SeveralSearchesError {
    first: usize,
    second: usize,
}

impl SeveralSearchesError {
    /// Two of the seats that search.
    #[must_use]
    pub const fn seats(&self) -> [usize; 2] {
        [self.first, self.second]
    }
}

impl SearchText<'_> {
    /// Prefix of a player that searches; its blueprint and its options follow.
    pub(super) const PREFIX: &'static str = "search:";

    /// The parts of a text; `None` for the text of another player.
    #[must_use]
    pub fn of(text: &str) -> Option<SearchText<'_>> {
        let mut blueprint = text.trim_start().strip_prefix(SearchText::PREFIX)?.trim();
        let mut options = Vec::new();
        while let Some((before, last)) = blueprint.rsplit_once(';') {
            let Some((name, value)) = last.split_once('=') else { break };
            let (name, value) = (name.trim(), value.trim());
            // A rule with a condition has spaces.
            if name.contains(char::is_whitespace) {
                break;
            }
            options.push((name, value));
            blueprint = before.trim_end();
        }
        options.reverse();
        Some(SearchText { blueprint, options })
    }

    /// Whether other seats of the table may search too.
    #[must_use]
    pub fn in_all_seats(&self) -> bool {
        self.options.contains(&("seats", "all")) || self.options.contains(&("method", "mirror"))
    }

    /// Checks that at most one seat of a table searches, unless all of those that do allow it. A
    /// seat that does not search is `None`; of one that does, [`Self::in_all_seats`] is given.
    ///
    /// # Errors
    /// [`SeveralSearchesError`] otherwise.
    pub fn check_table(
        seats: impl Iterator<Item = Option<bool>>,
    ) -> Result<(), SeveralSearchesError> {
        let searches = seats.enumerate().filter_map(|(seat, in_all)| Some((seat, in_all?)));
        let searches: Vec<(usize, bool)> = searches.collect();
        match searches[..] {
            [(first, _), (second, _), ..] if !searches.iter().all(|&(_, in_all)| in_all) => {
                Err(SeveralSearchesError { first, second })
            }
            _ => Ok(()),
        }
    }
}
