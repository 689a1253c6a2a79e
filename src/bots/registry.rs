//! The bots by name: one row each.

use thiserror::Error;

use super::bot::{Bot, OpenBot};
use super::random::Random;
use super::table::Player;
use crate::rules::{LostGameScore, Parameters, Variant};

/// How a bot is made.
#[derive(Clone, Copy, Debug)]
enum Make {
    /// One that sees what its seat may see.
    Seat(fn(&Variant) -> Box<dyn Bot>),
    /// One that sees everything.
    #[expect(dead_code, reason = "not yet")]
    Open(fn(&Variant) -> Box<dyn OpenBot>),
}

/// Which variants a bot plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plays {
    /// All of them.
    Every,
    /// The base game with any number of players, whoever starts it and whatever a lost one scores.
    BaseGame,
}

/// A kind of bot.
#[derive(Clone, Copy, Debug)]
pub struct BotKind {
    /// The name that [`bot`] looks up.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Who published it.
    pub source: &'static str,
    /// The variants that it plays.
    pub plays: Plays,
    make: Make,
}

/// All bots.
pub const BOTS: &[BotKind] = &[BotKind {
    name: "random",
    summary: "any legal action, each as likely as the others",
    source: "",
    plays: Plays::Every,
    make: Make::Seat(|_| Box::new(Random::new())),
}];

/// A bot was asked for by a name that none has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("bot={name:?} is not known: did you mean {nearest:?}? expected one of {known}")]
pub struct UnknownBot {
    /// The name that was asked for.
    pub name: String,
    /// The name that is most like it.
    pub nearest: &'static str,
    /// The names that there are.
    pub known: String,
}

/// A bot was asked to play a variant that it was not written for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "bot={name:?} does not play this variant ({variant}): expected the base game, where only players, random_start_player, lost_game_score and edition may differ"
)]
pub struct UnsupportedVariant {
    /// The bot.
    pub name: &'static str,
    /// The variant in words.
    pub variant: String,
}

impl BotKind {
    /// Whether it is a player, which sees what its seat may see, or one that is shown all hands.
    #[must_use]
    pub const fn is_player(&self) -> bool {
        matches!(self.make, Make::Seat(_))
    }

    /// A bot that plays this variant.
    ///
    /// # Errors
    /// [`UnsupportedVariant`] when it was not written for it.
    pub fn player(&self, variant: &Variant) -> Result<Player, UnsupportedVariant> {
        if self.plays == Plays::BaseGame && !is_base_game(variant) {
            return Err(UnsupportedVariant { name: self.name, variant: variant.to_string() });
        }
        Ok(match self.make {
            Make::Seat(make) => Player::Bot(make(variant)),
            Make::Open(make) => Player::Open(make(variant)),
        })
    }
}

fn is_base_game(variant: &Variant) -> bool {
    let parameters = variant.brief_parameters();
    let base = Parameters {
        players: parameters.players,
        random_start_player: parameters.random_start_player,
        lost_game_score: LostGameScore::Zero,
        edition: parameters.edition,
        ..Parameters::default()
    };
    Parameters { lost_game_score: LostGameScore::Zero, ..parameters } == base
}

/// The bot of this name.
///
/// # Errors
/// [`UnknownBot`], with the nearest name and all names.
pub fn bot(name: &str) -> Result<&'static BotKind, UnknownBot> {
    BOTS.iter().find(|kind| kind.name == name).ok_or_else(|| {
        let names = || BOTS.iter().map(|kind| kind.name);
        let nearest = names().min_by_key(|known| edits(name, known)).expect("there are bots");
        UnknownBot {
            name: name.to_owned(),
            nearest,
            known: names().collect::<Vec<&str>>().join(", "),
        }
    })
}

/// Letters to be inserted, removed or changed to make one word of the other (Levenshtein).
fn edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, &expected) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != expected);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        assert_eq!(edits("smart", "smart"), 0);
        assert_eq!(edits("smrat", "smart"), 2);
        assert_eq!(edits("", "info"), 4);
        assert_eq!(edits("infos", "info"), 1);
    }
}
