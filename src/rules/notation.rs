//! Text forms: cards, hints, moves, variants and a board that a person can read.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use super::card::{Card, Rank, Suit};
use super::event::Event;
use super::hint::Hint;
use super::limits::MAX_COLORS;
use super::moves::Move;
use super::state::State;
use super::variant::Variant;

const LETTERS: [char; MAX_COLORS] = ['R', 'Y', 'G', 'W', 'B', 'M'];
const NAMES: [&str; MAX_COLORS] = ["red", "yellow", "green", "white", "blue", "multicolour"];

/// Text that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is not a {what}: expected {expected}")]
pub struct NotationError {
    /// What was read.
    pub text: String,
    /// What it should have been.
    pub what: &'static str,
    /// How that is written.
    pub expected: &'static str,
}

fn not_a(what: &'static str, expected: &'static str, text: &str) -> NotationError {
    let shown: String = text.chars().take(40).collect();
    NotationError { text: shown, what, expected }
}

impl Suit {
    /// The letter, such as `'R'`.
    #[must_use]
    pub const fn letter(self) -> char {
        LETTERS[self.index()]
    }

    /// The name, such as `"red"`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        NAMES[self.index()]
    }

    fn from_letter(letter: char) -> Option<Suit> {
        let upper = letter.to_ascii_uppercase();
        Suit::ALL.into_iter().find(|suit| suit.letter() == upper)
    }

    fn from_text(text: &str) -> Option<Suit> {
        let mut letters = text.chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) => Suit::from_letter(letter),
            _ => Suit::ALL.into_iter().find(|suit| suit.name().eq_ignore_ascii_case(text)),
        }
    }
}

impl Rank {
    fn from_text(text: &str) -> Option<Rank> {
        let number: u8 = text.parse().ok()?;
        Rank::new(number.checked_sub(1)?)
    }
}

impl Display for Suit {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Display for Rank {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.index() + 1)
    }
}

impl Display for Card {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.suit.letter(), self.rank)
    }
}

impl FromStr for Card {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Card, NotationError> {
        let parse = || {
            let mut letters = text.chars();
            let suit = Suit::from_letter(letters.next()?)?;
            Some(Card::new(suit, Rank::from_text(letters.as_str())?))
        };
        parse().ok_or_else(|| {
            not_a(
                "card",
                "a suit's letter (R Y G W B M) and a rank from 1 to 5, as in \"R1\"",
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

impl Display for Hint {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Hint::Color(suit) => suit.fmt(formatter),
            Hint::Rank(rank) => rank.fmt(formatter),
        }
    }
}

impl Display for Move {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Move::Discard { slot } => write!(formatter, "discard {slot}"),
            Move::Play { slot } => write!(formatter, "play {slot}"),
            Move::Hint { offset, hint } => write!(formatter, "hint +{offset} {hint}"),
        }
    }
}

impl Move {
    /// The move in full words, such as `"play slot 2"` or `"hint +1 rank 3"`. It parses too.
    #[must_use]
    pub fn meaning(self) -> String {
        match self {
            Move::Discard { slot } => format!("discard slot {slot}"),
            Move::Play { slot } => format!("play slot {slot}"),
            Move::Hint { offset, hint: Hint::Color(suit) } => format!("hint +{offset} {suit}"),
            Move::Hint { offset, hint: Hint::Rank(rank) } => format!("hint +{offset} rank {rank}"),
        }
    }
}

impl FromStr for Move {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Move, NotationError> {
        let words: Vec<&str> =
            text.split_whitespace().filter(|word| !["slot", "rank"].contains(word)).collect();
        let parsed = match words[..] {
            ["play", slot] => slot.parse().ok().map(|slot| Move::Play { slot }),
            ["discard", slot] => slot.parse().ok().map(|slot| Move::Discard { slot }),
            ["hint", offset, named] => parse_hint(offset, named),
            _ => None,
        };
        parsed.ok_or_else(|| {
            not_a("move", "\"play 2\", \"discard 0\", \"hint +1 red\" or \"hint +1 3\"", text)
        })
    }
}

fn parse_hint(offset: &str, named: &str) -> Option<Move> {
    let offset = offset.strip_prefix('+')?.parse().ok()?;
    let color = Suit::from_text(named).map(Hint::Color);
    let hint = color.or_else(|| Rank::from_text(named).map(Hint::Rank))?;
    Some(Move::Hint { offset, hint })
}

impl Display for Event {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "seat {}: {}", self.seat, self.played)?;
        match self.card {
            Some(card) if self.added => write!(formatter, " ({card}, added)")?,
            Some(card) if self.is_misplay() => write!(formatter, " ({card}, misplay)")?,
            Some(card) => write!(formatter, " ({card})")?,
            None => {
                let slots: Vec<String> = self.touched.iter().map(|slot| slot.to_string()).collect();
                write!(
                    formatter,
                    " (slots {})",
                    if slots.is_empty() { "none".into() } else { slots.join(" ") }
                )?;
            }
        }
        match self.drawn {
            Some(card) => write!(formatter, ", draws {card}"),
            None => Ok(()),
        }
    }
}

impl Display for Variant {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} players, {} colours x {} ranks, hand of {}, {} information tokens, {} life tokens",
            self.players(),
            self.colors(),
            self.ranks(),
            self.hand_size(),
            self.max_information_tokens(),
            self.max_life_tokens(),
        )
    }
}

/// The board: tokens, fireworks, every hand with what hints have said, the discard pile.
impl Display for State {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let (variant, position) = (self.variant(), self.position());
        write!(
            formatter,
            "turn {}  score {}/{}",
            self.length(),
            self.score(),
            variant.max_score()
        )?;
        write!(
            formatter,
            "  information {}/{}",
            position.information_tokens(),
            variant.max_information_tokens()
        )?;
        write!(formatter, "  lives {}/{}", position.life_tokens(), variant.max_life_tokens())?;
        writeln!(formatter, "  deck {}", position.deck_size())?;
        let stacks = variant.suits().zip(position.fireworks(variant));
        let stacks: Vec<String> =
            stacks.map(|(suit, height)| format!("{}{height}", suit.letter())).collect();
        writeln!(formatter, "fireworks  {}", stacks.join(" "))?;
        for seat in 0..usize::from(variant.players()) {
            self.write_hand(formatter, seat)?;
        }
        let discards: Vec<String> = self.discard_pile().map(|card| card.to_string()).collect();
        writeln!(
            formatter,
            "discards   {}",
            if discards.is_empty() { "-".into() } else { discards.join(" ") }
        )?;
        match self.ending() {
            Some(ending) => write!(formatter, "over: {ending}"),
            None => write!(formatter, "seat {} to act", position.current_player()),
        }
    }
}

impl State {
    fn write_hand(&self, formatter: &mut Formatter<'_>, seat: usize) -> fmt::Result {
        let (variant, position) = (self.variant(), self.position());
        let acting = self.ending().is_none() && seat == position.current_player();
        write!(formatter, "seat {seat} {}  ", if acting { "->" } else { "  " })?;
        for (slot, card) in position.hand(variant, seat).enumerate() {
            let knowledge = position.hands[seat].knowledge[slot];
            let suit = knowledge.hinted_suit(variant).map_or('-', Suit::letter);
            let rank = knowledge.hinted_rank(variant).map_or("-".into(), |rank| rank.to_string());
            write!(formatter, " {card}[{suit}{rank}]")?;
        }
        writeln!(formatter)
    }
}
