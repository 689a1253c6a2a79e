//! The parameters of a variant, and their checks.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::rules::limits::{MAX_CARDS, MAX_COLORS, MAX_HAND_SIZE, MAX_PLAYERS, MAX_RANKS};
use crate::rules::names::named;
use crate::rules::variants::edition::Edition;
use crate::rules::variants::tables::Copies;

named!("lost_game_score",
    /// The score of a lost game.
    #[derive(Default)]
    LostGameScore {
        /// 0, as in HLE.
        #[default]
        Zero = "zero",
        /// The sum of the fireworks, as in games that are not lost.
        Fireworks = "fireworks",
    }
);

/// The parameters of a variant before they are checked: their numbers may be any, as in a file or in another
/// language. The default is the two-player base game.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Parameters {
    /// Seats at the table, 2 to 5.
    pub players: i64,
    /// Suits, 1 to 6.
    pub colors: i64,
    /// Ranks, 1 to 5.
    pub ranks: i64,
    /// Cards in a hand, 1 to 6. `None`: 5 with two or three players, 4 with more.
    pub hand_size: Option<i64>,
    /// Information tokens at the start and at most, 0 to 16.
    pub max_information_tokens: i64,
    /// Life tokens at the start, 1 to 8.
    pub max_life_tokens: i64,
    /// Copies of each card by suit and rank, 1 to 3. `None`: 3 of the lowest rank, 1 of the
    /// highest, 2 of the others.
    pub copies: Option<Vec<Vec<i64>>>,
    /// Whether any seat may start, instead of seat 0.
    pub random_start_player: bool,
    /// Whether a hint may match no card.
    pub empty_hints: bool,
    /// Whether there is no last round: the game goes on until it is perfect or can no longer be.
    pub crowning_piece: bool,
    /// Whether a play may announce a colour.
    pub timed_display: bool,
    /// The score of a lost game.
    pub lost_game_score: LostGameScore,
    /// The names of the suits in text.
    pub edition: Edition,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            players: 2,
            colors: 5,
            ranks: 5,
            hand_size: None,
            max_information_tokens: 8,
            max_life_tokens: 3,
            copies: None,
            random_start_player: false,
            empty_hints: false,
            crowning_piece: false,
            timed_display: false,
            lost_game_score: LostGameScore::Zero,
            edition: Edition::Standard,
        }
    }
}

/// The lowest and the highest value of a parameter.
pub(in crate::rules) type Range = (u8, u8);

pub(in crate::rules) const PLAYERS: Range = (2, MAX_PLAYERS as u8);
pub(in crate::rules) const COLORS: Range = (1, MAX_COLORS as u8);
pub(in crate::rules) const RANKS: Range = (1, MAX_RANKS as u8);
pub(in crate::rules) const HAND_SIZES: Range = (1, MAX_HAND_SIZE as u8);
pub(in crate::rules) const INFORMATION_TOKENS: Range = (0, 16);
pub(in crate::rules) const LIFE_TOKENS: Range = (1, 8);
const COPIES: Range = (1, 3);

/// A parameter outside its range.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[error("{parameter}={value} is not allowed: expected {allowed}")]
pub struct VariantError {
    /// The parameter's name.
    pub parameter: String,
    /// The value that was given.
    pub value: String,
    /// What is allowed.
    pub allowed: String,
}

impl VariantError {
    /// The error for a value of a parameter.
    pub(crate) fn new(
        parameter: impl Into<String>,
        value: impl fmt::Display,
        allowed: impl Into<String>,
    ) -> VariantError {
        VariantError {
            parameter: parameter.into(),
            value: value.to_string(),
            allowed: allowed.into(),
        }
    }
}

/// The value of a parameter, if it is in its range.
pub(in crate::rules) fn in_range(name: &str, value: i64, range: Range) -> Result<u8, VariantError> {
    let (low, high) = range;
    let inside = u8::try_from(value).ok().filter(|value| (low..=high).contains(value));
    inside.ok_or_else(|| VariantError::new(name, value, format!("{low} to {high}")))
}

pub(in crate::rules) const fn default_hand_size(players: u8) -> u8 {
    if players < 4 { 5 } else { 4 }
}

pub(in crate::rules) const fn default_copies(rank: u8, ranks: u8) -> u8 {
    if rank == 0 {
        3
    } else if rank + 1 == ranks {
        1
    } else {
        2
    }
}

/// The given copies of each card, or the default ones.
pub(in crate::rules) fn check_copies(
    given: Option<&Vec<Vec<i64>>>,
    colors: u8,
    ranks: u8,
) -> Result<Copies, VariantError> {
    let mut copies = Copies::default();
    if let Some(table) = given {
        let fits = table.len() == usize::from(colors)
            && table.iter().all(|row| row.len() == usize::from(ranks));
        if !fits {
            let allowed = format!(
                "{colors} rows (one for each colour) of {ranks} numbers (one for each rank)"
            );
            return Err(VariantError::new("copies", format!("{table:?}"), allowed));
        }
    }
    for suit in 0..colors {
        for rank in 0..ranks {
            let (row, column) = (usize::from(suit), usize::from(rank));
            copies[row][column] = match given {
                None => default_copies(rank, ranks),
                Some(table) => {
                    in_range(&format!("copies[{row}][{column}]"), table[row][column], COPIES)?
                }
            };
        }
    }
    Ok(copies)
}

/// The number of cards in the deck, if it is not too large and enough for all hands.
pub(in crate::rules) fn check_deck(
    given: Option<&Vec<Vec<i64>>>,
    copies: &Copies,
    players: u8,
    hand_size: u8,
) -> Result<u8, VariantError> {
    let deck_size: u8 = copies.iter().flatten().sum();
    if usize::from(deck_size) > MAX_CARDS {
        let table = given.map_or(&[][..], Vec::as_slice);
        let value = format!("{table:?} ({deck_size} cards)");
        let allowed = format!("copies that add up to at most {MAX_CARDS} cards");
        return Err(VariantError::new("copies", value, allowed));
    }
    if deck_size < players {
        let allowed = format!("copies of at least {players} cards with {players} players");
        return Err(VariantError::new("hand_size", hand_size, allowed));
    }
    if players * hand_size > deck_size {
        let allowed = format!(
            "at most {} with {players} players and a deck of {deck_size} cards",
            deck_size / players
        );
        return Err(VariantError::new("hand_size", hand_size, allowed));
    }
    Ok(deck_size)
}

#[cfg(test)]
mod tests {
    use crate::rules::Variant;

    #[test]
    fn numbers_out_of_range_are_refused_with_what_is_allowed() {
        let error = |text: &str| serde_json::from_str::<Variant>(text).unwrap_err().to_string();
        for (text, expected) in [
            (r#"{"players": -1}"#, "players=-1 is not allowed: expected 2 to 5"),
            (r#"{"players": 6}"#, "players=6 is not allowed: expected 2 to 5"),
            (r#"{"max_life_tokens": 256}"#, "max_life_tokens=256 is not allowed: expected 1 to 8"),
            (
                r#"{"players": 5, "colors": 1, "ranks": 1}"#,
                "hand_size=4 is not allowed: expected copies of at least 5 cards with 5 players",
            ),
            (
                r#"{"hand_size": 9000000000}"#,
                "hand_size=9000000000 is not allowed: expected 1 to 6",
            ),
            (
                r#"{"colors": 1, "ranks": 2, "copies": [[1, 300]]}"#,
                "copies[0][1]=300 is not allowed: expected 1 to 3",
            ),
        ] {
            assert!(error(text).starts_with(expected), "{}", error(text));
        }
    }
}
