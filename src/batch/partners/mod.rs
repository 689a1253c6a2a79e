//! The partners: bots in the seats that the learner does not play.

pub mod game;

use std::collections::BTreeMap;
use std::fmt;

use thiserror::Error;

use crate::bots::{Player, UnsupportedVariant};
use crate::rules::{EpisodeSeed, GameRng, MAX_PLAYERS, Variant};
use crate::search::{PlayerName, PlayerNameError, SeveralSearches};

/// The largest number of bots to draw from for one seat.
const MAX_CHOICES: usize = 64;

/// Who may hold a seat.
#[derive(Clone, Debug)]
enum Partner {
    Bot(PlayerName),
    /// The outside partner with this number: the caller plays its turns, as it plays the learner's.
    Outside(usize),
}

impl Partner {
    /// Prefix of the name of an outside partner, before its number.
    const OUTSIDE: &'static str = "outside: ";

    fn of(name: &str) -> Result<Partner, PlayerNameError> {
        let number = name.strip_prefix(Partner::OUTSIDE).and_then(|number| number.parse().ok());
        match number {
            Some(number) if number <= i32::MAX as usize => Ok(Partner::Outside(number)),
            _ => name.parse().map(Partner::Bot),
        }
    }

    fn bot(&self) -> Option<&PlayerName> {
        match self {
            Partner::Bot(bot) => Some(bot),
            Partner::Outside(_) => None,
        }
    }
}

impl fmt::Display for Partner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Partner::Bot(bot) => bot.fmt(formatter),
            Partner::Outside(number) => write!(formatter, "{}{number}", Partner::OUTSIDE),
        }
    }
}

/// Who plays the seats that the learner does not play. Each of these seats has a list of partners; one of
/// them is drawn uniformly for each episode.
#[derive(Clone, Debug, Default)]
pub struct Partners {
    /// The list of each seat; empty for the learner's seats.
    seats: Vec<Vec<Partner>>,
}

/// Why partners are refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PartnersError {
    /// A name that no bot has.
    #[error("partners: {0}")]
    Bot(#[from] PlayerNameError),
    /// A bot that cannot play the variant.
    #[error("partners: {0}")]
    Variant(#[from] UnsupportedVariant),
    /// More than one seat has a partner that searches.
    #[error("partners: {0}")]
    Searches(#[from] SeveralSearches),
    /// A seat that does not exist.
    #[error("partners: seat {seat} is not allowed: expected 0 to {}", players - 1)]
    Seat {
        /// The seat.
        seat: usize,
        /// The number of seats.
        players: u8,
    },
    /// No seat is left for the learner.
    #[error("partners hold all {players} seats: expected at least one seat without a partner")]
    Full {
        /// The number of seats.
        players: u8,
    },
    /// A list of bots that is empty or too long.
    #[error("partners: {found} bots for seat {seat}: expected 1 to {MAX_CHOICES}")]
    Choices {
        /// The seat.
        seat: usize,
        /// The number of bots in the list.
        found: usize,
    },
    /// The learner has no turn.
    #[error(
        "partners={partners:?}: the partners ended {deals} deals of game {game} in a row before the learner's first turn: expected partners that leave the learner a turn"
    )]
    NoTurn {
        /// The partners by seat.
        partners: BTreeMap<usize, Vec<String>>,
        /// The game.
        game: usize,
        /// How many episodes of it were dealt.
        deals: usize,
    },
}

impl Partners {
    /// Sets the list of partners of a seat; one of them is drawn for each episode. The name "outside: 3"
    /// stands for outside partner 3, whose turns the caller plays; see [`super::Batch::waiting`].
    ///
    /// # Errors
    /// [`PartnersError`] for an unknown name, or for a list of names that is empty or too long.
    pub fn with(mut self, seat: usize, names: &[String]) -> Result<Partners, PartnersError> {
        if !(1..=MAX_CHOICES).contains(&names.len()) {
            return Err(PartnersError::Choices { seat, found: names.len() });
        }
        if seat >= MAX_PLAYERS {
            return Err(PartnersError::Seat { seat, players: MAX_PLAYERS as u8 });
        }
        if self.seats.len() <= seat {
            self.seats.resize(seat + 1, Vec::new());
        }
        let partners = names.iter().map(|name| Partner::of(name));
        self.seats[seat] = partners.collect::<Result<_, PlayerNameError>>()?;
        Ok(self)
    }

    /// Whether the learner plays all seats.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seats.iter().all(Vec::is_empty)
    }

    /// The seats with partners, each with the names of its bots.
    pub fn names(&self) -> impl Iterator<Item = (usize, Vec<String>)> + '_ {
        let seats = self.seats.iter().enumerate().filter(|(_, partners)| !partners.is_empty());
        seats.map(|(seat, partners)| (seat, partners.iter().map(Partner::to_string).collect()))
    }

    /// The names of the bots that are policies in files, each with the CRC-32 of its file.
    pub(super) fn checksums(&self) -> Vec<(String, u32)> {
        self.bots().filter_map(|bot| Some((bot.to_string(), bot.checksum()?))).collect()
    }

    fn bots(&self) -> impl Iterator<Item = &PlayerName> {
        self.seats.iter().flatten().filter_map(Partner::bot)
    }

    /// Checks the seats and bots against a variant.
    pub(super) fn check(&self, variant: &Variant) -> Result<(), PartnersError> {
        let players = variant.players();
        if let Some((seat, _)) = self.names().find(|(seat, _)| *seat >= players.into()) {
            return Err(PartnersError::Seat { seat, players });
        }
        if self.names().count() == usize::from(players) {
            return Err(PartnersError::Full { players });
        }
        for bot in self.bots() {
            bot.player(variant)?;
        }
        let searches = self.seats.iter().map(|partners| {
            let mut bots = partners.iter().filter_map(Partner::bot);
            bots.find(|bot| bot.searches())
        });
        PlayerName::check_table(searches)?;
        Ok(())
    }

    /// Draws the players of an episode.
    pub(super) fn draw(&self, variant: &Variant, seed: EpisodeSeed) -> Vec<Player> {
        let player = |seat: usize| match self.drawn(seat, seed).and_then(Partner::bot) {
            None => Player::External,
            Some(bot) => bot.player(variant).expect("checked when the batch was made"),
        };
        (0..usize::from(variant.players())).map(player).collect()
    }

    /// The partner who holds a seat in an episode; `None` if the learner does.
    fn drawn(&self, seat: usize, seed: EpisodeSeed) -> Option<&Partner> {
        let partners = self.seats.get(seat).filter(|partners| !partners.is_empty())?;
        // The generators of seats below `MAX_PLAYERS` belong to the bots.
        let mut rng = GameRng::for_seat(seed, MAX_PLAYERS + seat);
        Some(&partners[rng.below(partners.len() as u32) as usize])
    }

    /// The number of the outside partner who holds a seat in an episode; `None` if no such partner does.
    pub(super) fn outside(&self, seat: usize, seed: EpisodeSeed) -> Option<usize> {
        match self.drawn(seat, seed)? {
            Partner::Bot(_) => None,
            Partner::Outside(number) => Some(*number),
        }
    }

    /// Whether all episodes have the same players.
    pub(super) fn are_fixed(&self) -> bool {
        self.seats.iter().all(|partners| partners.len() <= 1)
    }
}
