//! Who holds the seats that are not the learner's.

pub mod game;

use thiserror::Error;

use crate::bots::{BotName, BotNameError, Player, UnsupportedVariant};
use crate::rules::{EpisodeSeed, GameRng, MAX_PLAYERS, Variant};

/// Most bots that one seat is drawn from.
const MAX_CHOICES: usize = 64;

/// Who holds the seats that are not the learner's: for each such seat the bots of which one is
/// drawn for each episode, each as likely as the others.
#[derive(Clone, Debug, Default)]
pub struct Partners {
    /// By seat; nobody in the seats that are played from outside.
    seats: Vec<Vec<BotName>>,
}

/// Partners who cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PartnersError {
    /// A text that says no bot.
    #[error("partners: {0}")]
    Bot(#[from] BotNameError),
    /// A bot that does not play the variant.
    #[error("partners: {0}")]
    Variant(#[from] UnsupportedVariant),
    /// A seat that the table does not have.
    #[error("partners: seat {seat} is not allowed: expected 0 to {}", players - 1)]
    Seat {
        /// The seat.
        seat: usize,
        /// How many there are.
        players: u8,
    },
    /// No seat is left for the learner.
    #[error("partners hold all {players} seats: expected at least one seat without a partner")]
    Full {
        /// How many seats there are.
        players: u8,
    },
    /// Nobody to draw from, or too many.
    #[error("partners: {found} bots for seat {seat}: expected 1 to {MAX_CHOICES}")]
    Choices {
        /// The seat.
        seat: usize,
        /// How many were given.
        found: usize,
    },
}

impl Partners {
    /// Puts one of these bots into a seat, in each episode another one.
    ///
    /// # Errors
    /// [`PartnersError`] for a name that no bot has, for no name, or for too many.
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
        self.seats[seat] = bots.collect::<Result<_, BotNameError>>()?;
        Ok(self)
    }

    /// Whether every seat is the learner's.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seats.iter().all(Vec::is_empty)
    }

    /// The seats with partners, and the names that each is drawn from.
    pub fn names(&self) -> impl Iterator<Item = (usize, Vec<String>)> + '_ {
        let seats = self.seats.iter().enumerate().filter(|(_, bots)| !bots.is_empty());
        seats.map(|(seat, bots)| (seat, bots.iter().map(BotName::to_string).collect()))
    }

    /// The names of those whose play lies in a file, and the CRC-32 of that.
    pub fn checksums(&self) -> Vec<(String, u32)> {
        let bots = self.seats.iter().flatten();
        bots.filter_map(|bot| Some((bot.to_string(), bot.checksum()?))).collect()
    }

    pub fn check(&self, variant: &Variant) -> Result<(), PartnersError> {
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
        Ok(())
    }

    /// The players of an episode.
    pub fn draw(&self, variant: &Variant, seed: EpisodeSeed) -> Vec<Player> {
        let draw = |seat: usize| match self.seats.get(seat).map(Vec::as_slice) {
            None | Some([]) => Player::Outside,
            Some(bots) => {
                // The seats' own numbers are the bots'.
                let mut rng = GameRng::for_seat(seed, MAX_PLAYERS + seat);
                let drawn = rng.below(bots.len() as u32) as usize;
                bots[drawn].player(variant).expect("checked when the batch was made")
            }
        };
        (0..usize::from(variant.players())).map(draw).collect()
    }

    /// Whether each episode has the same players.
    pub fn are_fixed(&self) -> bool {
        self.seats.iter().all(|bots| bots.len() <= 1)
    }
}
