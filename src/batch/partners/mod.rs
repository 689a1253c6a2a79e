//! The partners: bots in the seats that the learner does not play.

pub mod game;

use std::collections::BTreeMap;

use thiserror::Error;

use crate::bots::{Player, UnsupportedVariant};
use crate::rules::{EpisodeSeed, GameRng, MAX_PLAYERS, Variant};
use crate::search::{PlayerName, PlayerNameError, SeveralSearches};

/// The largest number of bots to draw from for one seat.
const MAX_CHOICES: usize = 64;

/// The bots in the seats that the learner does not play. For each such seat and each episode one
/// bot is drawn uniformly from a list.
#[derive(Clone, Debug, Default)]
pub struct Partners {
    /// The list of each seat; empty for the learner's seats.
    seats: Vec<Vec<PlayerName>>,
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
    /// Several partners that search.
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
    /// Puts one of these bots into a seat, drawn anew for each episode.
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
        let bots = names.iter().map(|name| name.parse());
        self.seats[seat] = bots.collect::<Result<_, PlayerNameError>>()?;
        Ok(self)
    }

    /// Whether the learner plays all seats.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seats.iter().all(Vec::is_empty)
    }

    /// The seats with partners, each with the names of its bots.
    pub fn names(&self) -> impl Iterator<Item = (usize, Vec<String>)> + '_ {
        let seats = self.seats.iter().enumerate().filter(|(_, bots)| !bots.is_empty());
        seats.map(|(seat, bots)| (seat, bots.iter().map(PlayerName::to_string).collect()))
    }

    /// The names of the bots that are policies in files, each with the CRC-32 of its file.
    pub(super) fn checksums(&self) -> Vec<(String, u32)> {
        let bots = self.seats.iter().flatten();
        bots.filter_map(|bot| Some((bot.to_string(), bot.checksum()?))).collect()
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
        for bot in self.seats.iter().flatten() {
            bot.player(variant)?;
        }
        let searching = |bots: &Vec<PlayerName>| bots.iter().position(PlayerName::searches);
        let searches = self.seats.iter().map(|bots| searching(bots).map(|index| &bots[index]));
        PlayerName::check_table(searches)?;
        Ok(())
    }

    /// Draws the players of an episode.
    pub(super) fn draw(&self, variant: &Variant, seed: EpisodeSeed) -> Vec<Player> {
        let draw = |seat: usize| match self.seats.get(seat).map(Vec::as_slice) {
            None | Some([]) => Player::External,
            Some(bots) => {
                // The random numbers of the seats themselves belong to the bots.
                let mut rng = GameRng::for_seat(seed, MAX_PLAYERS + seat);
                let drawn = rng.below(bots.len() as u32) as usize;
                bots[drawn].player(variant).expect("checked when the batch was made")
            }
        };
        (0..usize::from(variant.players())).map(draw).collect()
    }

    /// Whether all episodes have the same players.
    pub(super) fn are_fixed(&self) -> bool {
        self.seats.iter().all(|bots| bots.len() <= 1)
    }
}
