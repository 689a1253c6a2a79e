//! Text forms of cards, moves, seats and turns.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use crate::rules::cards::card::{Card, Rank, Suit};
use crate::rules::small_index::{Offset, Seat, Slot};
use crate::rules::turns::event::Event;
use crate::rules::turns::hint::Hint;
use crate::rules::turns::moves::{ActionId, Move};
use crate::rules::variants::edition::Edition;

/// Text that is not a card, a suit, a rank, a move, an action, a seat, a slot or an offset.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[error("{text:?} is not {what}: expected {expected}")]
pub struct NotationError {
    /// The text, cut to 40 characters.
    pub text: String,
    /// What was expected, such as "a card".
    pub what: &'static str,
    /// How it is written.
    pub expected: &'static str,
}

fn is_not(what: &'static str, expected: &'static str, text: &str) -> NotationError {
    let shown: String = text.chars().take(40).collect();
    NotationError { text: shown, what, expected }
}

impl Rank {
    fn from_text(text: &str) -> Option<Rank> {
        Rank::new(parse_digit(text)?.checked_sub(1)?)
    }
}

impl FromStr for Rank {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Rank, NotationError> {
        Rank::from_text(text).ok_or_else(|| is_not("a rank", "a number from 1 to 5", text))
    }
}

/// A number from 1, as on the cards.
impl Display for Rank {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.index() + 1)
    }
}

impl FromStr for Suit {
    type Err = NotationError;

    /// A name or a letter of any edition.
    fn from_str(text: &str) -> Result<Suit, NotationError> {
        Edition::find_suit(text)
            .ok_or_else(|| is_not("a suit", "a name or a letter, as in \"red\"", text))
    }
}

/// The name in the standard edition, such as `red`; [`Edition::suit_name`] has those of others.
impl Display for Suit {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(Edition::Standard.suit_name(*self))
    }
}

/// In the standard edition, such as `red` or `3`.
impl Display for Hint {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Edition::Standard.hint(*self))
    }
}

/// In the standard edition, such as `seat 0: play 2 (R1, added), draws B3`.
impl Display for Event {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Edition::Standard.event(self))
    }
}

impl Edition {
    /// A card, such as `"R1"`.
    #[must_use]
    pub fn card(self, card: Card) -> String {
        format!("{}{}", self.letter(card.suit), card.rank)
    }

    fn hint(self, hint: Hint) -> String {
        match hint {
            Hint::Color(suit) => self.suit_name(suit).to_owned(),
            Hint::Rank(rank) => rank.to_string(),
        }
    }

    /// A move, such as `"play 2"`, `"hint +1 red"`, or `"play 2 red"` for an announced play.
    #[must_use]
    pub fn move_text(self, played: Move) -> String {
        match played {
            Move::Discard { slot } => format!("discard {slot}"),
            Move::Play { slot } => format!("play {slot}"),
            Move::AnnouncedPlay { slot, suit } => format!("play {slot} {}", self.suit_name(suit)),
            Move::Hint { offset, hint } => format!("hint +{offset} {}", self.hint(hint)),
        }
    }

    /// A move in words, such as `"play slot 2"` or `"hint +1 rank 3"`, which also parses as a move.
    #[must_use]
    pub fn meaning(self, played: Move) -> String {
        match played {
            Move::Discard { slot } => format!("discard slot {slot}"),
            Move::Play { slot } => format!("play slot {slot}"),
            Move::AnnouncedPlay { slot, suit } => {
                format!("play slot {slot} announcing {}", self.suit_name(suit))
            }
            Move::Hint { offset, hint: Hint::Rank(rank) } => format!("hint +{offset} rank {rank}"),
            Move::Hint { .. } => self.move_text(played),
        }
    }

    /// A turn, with what it revealed.
    #[must_use]
    pub fn event(self, event: &Event) -> String {
        let mut text = format!("seat {}: {}", event.seat, self.move_text(event.played));
        match event.card.map(|card| self.card(card)) {
            Some(card) if event.added => text += &format!(" ({card}, added)"),
            Some(card) if event.is_misplay() => text += &format!(" ({card}, misplay)"),
            Some(card) => text += &format!(" ({card})"),
            None => {
                let slots: Vec<String> =
                    event.touched.iter().map(|slot| slot.to_string()).collect();
                let slots = if slots.is_empty() { "none".to_owned() } else { slots.join(" ") };
                text += &format!(" (slots {slots})");
            }
        }
        if let Some(card) = event.drawn {
            text += &format!(", draws {}", self.card(card));
        }
        text
    }
}

impl Display for Card {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Edition::Standard.card(*self))
    }
}

impl FromStr for Card {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Card, NotationError> {
        let parse = || {
            let mut letters = text.chars();
            let suit = Edition::find_suit(letters.next()?.encode_utf8(&mut [0; 4]))?;
            Some(Card::new(suit, Rank::from_text(letters.as_str())?))
        };
        parse().ok_or_else(|| {
            is_not(
                "a card",
                "a suit's letter (R Y G W B M, K for black, S H D C) and a rank from 1 to 5, as in \"R1\"",
                text,
            )
        })
    }
}

impl Serialize for Card {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Card {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Card, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

macro_rules! parse_number {
    ($type:ident, $kind:literal, $expected:literal) => {
        impl FromStr for $type {
            type Err = NotationError;

            fn from_str(text: &str) -> Result<$type, NotationError> {
                let number = parse_digit(text).and_then($type::new);
                number.ok_or_else(|| is_not($kind, $expected, text))
            }
        }
    };
}

parse_number!(Seat, "a seat", "a number from 0 to 4");
parse_number!(Offset, "an offset", "a number from 0 to 4");
parse_number!(Slot, "a slot", "a number from 0 to 5");

impl FromStr for ActionId {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<ActionId, NotationError> {
        let number = text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
        let action = number.and_then(ActionId::new);
        action.ok_or_else(|| is_not("an action", "a number from 0 to 127", text))
    }
}

impl Display for Move {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Edition::Standard.move_text(*self))
    }
}

impl FromStr for Move {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Move, NotationError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        parse_move(&words).ok_or_else(|| {
            let expected =
                "\"play 2\", \"discard 0\", \"hint +1 red\", \"hint +1 3\" or \"play 2 red\"";
            is_not("a move", expected, text)
        })
    }
}

fn parse_move(words: &[&str]) -> Option<Move> {
    match *words {
        ["play", slot] | ["play", "slot", slot] => Some(Move::Play { slot: slot.parse().ok()? }),
        ["discard", slot] | ["discard", "slot", slot] => {
            Some(Move::Discard { slot: slot.parse().ok()? })
        }
        ["play", slot, color] | ["play", "slot", slot, "announcing", color] => {
            let suit = Edition::find_suit(color)?;
            Some(Move::AnnouncedPlay { slot: slot.parse().ok()?, suit })
        }
        ["hint", offset, named]
        | ["hint", offset, "rank", named @ ("1" | "2" | "3" | "4" | "5")] => {
            let offset = offset.strip_prefix('+')?.parse().ok()?;
            let color = Edition::find_suit(named).map(Hint::Color);
            let hint = color.or_else(|| Rank::from_text(named).map(Hint::Rank))?;
            Some(Move::Hint { offset, hint })
        }
        _ => None,
    }
}

/// Parses a single digit without a sign. No variant has slots, offsets or ranks above 9.
fn parse_digit(text: &str) -> Option<usize> {
    match *text.as_bytes() {
        [digit @ b'0'..=b'9'] => Some(usize::from(digit - b'0')),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the texts of all values parse as them, and that these texts do not.
    fn check<T>(all: &[T], wrong: &[&str])
    where
        T: Copy + Display + FromStr<Err = NotationError> + PartialEq + fmt::Debug,
    {
        for value in all {
            assert_eq!(value.to_string().parse().as_ref(), Ok(value));
        }
        for text in wrong {
            assert_eq!(text.parse::<T>().unwrap_err().text, *text);
        }
    }

    #[test]
    fn the_text_of_every_small_value_parses_as_it() {
        check(&Suit::ALL, &["", "redd", "X", "0"]);
        check(&Rank::ALL, &["", "0", "6", "+1", "1 "]);
        check(&Seat::ALL, &["", "5", "+1", "-1"]);
        check(&Offset::ALL, &["", "5"]);
        check(&Slot::ALL, &["", "6"]);
        check(&ActionId::ALL, &["", "128", "+1", "-1", "1.0", "99999999999999999999999"]);
        assert_eq!(("g".parse(), "spades".parse()), (Ok(Suit::GREEN), Ok(Suit::RED)));
    }

    #[test]
    fn an_action_is_stored_as_its_number() {
        for action in ActionId::ALL {
            let stored = serde_json::to_string(&action).unwrap();
            assert_eq!(stored, action.to_string());
            assert_eq!(serde_json::from_str::<ActionId>(&stored).unwrap(), action);
        }
        let refused = serde_json::from_str::<ActionId>("128").unwrap_err().to_string();
        assert!(refused.contains("action 128 is not allowed: expected 0 to 127"), "{refused}");
    }
}
