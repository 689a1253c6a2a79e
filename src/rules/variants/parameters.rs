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

/// The parameters of a variant before they are checked. The default is the two-player base game.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "WideParameters", into = "WideParameters")]
pub struct Parameters {
    /// Seats at the table, 2 to 5.
    pub players: u8,
    /// Suits, 1 to 6.
    pub colors: u8,
    /// Ranks, 1 to 5.
    pub ranks: u8,
    /// Cards in a hand, 1 to 6. `None`: 5 with two or three players, 4 with more.
    pub hand_size: Option<u8>,
    /// Information tokens at the start and at most, 0 to 16.
    pub max_information_tokens: u8,
    /// Life tokens at the start, 1 to 8.
    pub max_life_tokens: u8,
    /// Copies of each card by suit and rank, 1 to 3. `None`: 3 of the lowest rank, 1 of the
    /// highest, 2 of the others.
    pub copies: Option<Vec<Vec<u8>>>,
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

/// Parameters with the numbers of a file or of another language, which may be any.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WideParameters {
    pub players: i64,
    pub colors: i64,
    pub ranks: i64,
    pub hand_size: Option<i64>,
    pub max_information_tokens: i64,
    pub max_life_tokens: i64,
    pub copies: Option<Vec<Vec<i64>>>,
    pub random_start_player: bool,
    pub empty_hints: bool,
    pub crowning_piece: bool,
    pub timed_display: bool,
    pub lost_game_score: LostGameScore,
    pub edition: Edition,
}

impl Default for WideParameters {
    fn default() -> WideParameters {
        Parameters::default().into()
    }
}

impl From<Parameters> for WideParameters {
    fn from(parameters: Parameters) -> WideParameters {
        let wide = |row: Vec<u8>| row.into_iter().map(i64::from).collect();
        WideParameters {
            players: parameters.players.into(),
            colors: parameters.colors.into(),
            ranks: parameters.ranks.into(),
            hand_size: parameters.hand_size.map(i64::from),
            max_information_tokens: parameters.max_information_tokens.into(),
            max_life_tokens: parameters.max_life_tokens.into(),
            copies: parameters.copies.map(|rows| rows.into_iter().map(wide).collect()),
            random_start_player: parameters.random_start_player,
            empty_hints: parameters.empty_hints,
            crowning_piece: parameters.crowning_piece,
            timed_display: parameters.timed_display,
            lost_game_score: parameters.lost_game_score,
            edition: parameters.edition,
        }
    }
}

impl TryFrom<WideParameters> for Parameters {
    type Error = VariantError;

    /// # Errors
    /// [`VariantError`] for a number that is not a byte.
    fn try_from(wide: WideParameters) -> Result<Parameters, VariantError> {
        let size = |size| byte("hand_size", size, HAND_SIZES);
        let cell = |row, column, &count: &i64| byte(&copies_of(row, column), count, COPIES);
        let row = |(row, counts): (usize, &Vec<i64>)| {
            counts.iter().enumerate().map(|(column, count)| cell(row, column, count)).collect()
        };
        let copies = |rows: &Vec<Vec<i64>>| rows.iter().enumerate().map(row).collect();
        Ok(Parameters {
            players: byte("players", wide.players, PLAYERS)?,
            colors: byte("colors", wide.colors, COLORS)?,
            ranks: byte("ranks", wide.ranks, RANKS)?,
            hand_size: wide.hand_size.map(size).transpose()?,
            max_information_tokens: byte(
                "max_information_tokens",
                wide.max_information_tokens,
                INFORMATION_TOKENS,
            )?,
            max_life_tokens: byte("max_life_tokens", wide.max_life_tokens, LIFE_TOKENS)?,
            copies: wide.copies.as_ref().map(copies).transpose()?,
            random_start_player: wide.random_start_player,
            empty_hints: wide.empty_hints,
            crowning_piece: wide.crowning_piece,
            timed_display: wide.timed_display,
            lost_game_score: wide.lost_game_score,
            edition: wide.edition,
        })
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

fn out_of_range(name: &str, value: impl fmt::Display, (low, high): Range) -> VariantError {
    VariantError::new(name, value, format!("{low} to {high}"))
}

/// The value of a parameter, if it is in its range.
pub(in crate::rules) fn in_range(name: &str, value: u8, range: Range) -> Result<u8, VariantError> {
    let is_inside = (range.0..=range.1).contains(&value);
    if is_inside { Ok(value) } else { Err(out_of_range(name, value, range)) }
}

/// A number as a byte. The error names the range of the parameter.
fn byte(name: &str, value: i64, range: Range) -> Result<u8, VariantError> {
    u8::try_from(value).map_err(|_| out_of_range(name, value, range))
}

/// What messages call the copies of one card.
fn copies_of(row: usize, column: usize) -> String {
    format!("copies[{row}][{column}]")
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
    given: Option<&Vec<Vec<u8>>>,
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
            let count =
                given.map_or_else(|| default_copies(rank, ranks), |table| table[row][column]);
            copies[row][column] = in_range(&copies_of(row, column), count, COPIES)?;
        }
    }
    Ok(copies)
}

/// The number of cards in the deck, if it is not too large and enough for all hands.
pub(in crate::rules) fn check_deck(
    given: Option<&Vec<Vec<u8>>>,
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
    fn stored_numbers_of_any_size_are_refused_with_the_range() {
        let error = |text: &str| serde_json::from_str::<Variant>(text).unwrap_err().to_string();
        for (text, expected) in [
            (r#"{"players": -1}"#, "players=-1 is not allowed: expected 2 to 5"),
            (r#"{"players": 6}"#, "players=6 is not allowed: expected 2 to 5"),
            (r#"{"max_life_tokens": 256}"#, "max_life_tokens=256 is not allowed: expected 1 to 8"),
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
