//! The stored form of one game.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use crate::batch::kernel::game::Game;
use crate::batch::options::IllegalAction;
use crate::batch::partners::Partners;
use crate::batch::partners::game::{MAX_DEALS, PartnerGame};
use crate::rules::{Deck, EpisodeSeed, Position, PositionError, RandomDeck, Variant};

/// A game without partners. Its deck follows from the seed and the position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredGame {
    pub seed: EpisodeSeed,
    pub length: u8,
    pub position: Position,
}

impl StoredGame {
    pub fn of(game: &Game) -> StoredGame {
        StoredGame { seed: game.seed, length: game.length, position: game.position }
    }

    /// The game, if the rules lead to it.
    pub fn restore(
        &self,
        variant: &Variant,
        illegal_action: IllegalAction,
    ) -> Result<Game, PositionError> {
        let StoredGame { seed, length, position } = *self;
        let played = position.validate(variant, seed, length);
        let deck = match illegal_action {
            IllegalAction::Raise => played,
            IllegalAction::Terminate => played
                .or_else(|error| position.validate_forfeited(variant, seed, length).or(Err(error))),
        };
        Ok(Game { position, deck: deck?, seed, length })
    }
}

/// A game with partners: what its replay needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPartnerGame {
    pub seed: EpisodeSeed,
    /// The learner's actions.
    pub actions: Vec<u8>,
    /// Whether an illegal action has ended the game.
    pub forfeited: bool,
}

impl StoredPartnerGame {
    pub fn of(game: &PartnerGame) -> StoredPartnerGame {
        StoredPartnerGame {
            seed: game.seed(),
            actions: game.actions().to_vec(),
            forfeited: game.is_forfeited(),
        }
    }

    /// Plays the game again. If `stop` is set meanwhile, the result means nothing.
    pub fn restore(
        &self,
        partners: &Partners,
        variant: &Arc<Variant>,
        illegal_action: IllegalAction,
        stop: &AtomicBool,
    ) -> Result<PartnerGame, PositionError> {
        let refuse = |field, problem| Err(PositionError { field, problem });
        let replayed = PartnerGame::replay(partners, variant, self.seed, &self.actions, stop);
        let Some(mut game) = replayed else {
            return refuse(
                "actions",
                "not legal, or the partners play differently in this version",
            );
        };
        let is_over = game.position().ending().is_some();
        if self.forfeited && !is_over && illegal_action == IllegalAction::Terminate {
            game.forfeit();
        }
        if game.is_forfeited() != self.forfeited {
            return refuse("forfeited", "the game ends in another way");
        }
        if is_over && self.actions.is_empty() && !skips_to(partners, variant, self.seed, stop) {
            return refuse("seed", "the learner has no turn in this episode");
        }
        Ok(game)
    }
}

/// Whether this episode is dealt although it ends before the learner's first turn: so did all deals
/// before it that are tried.
fn skips_to(
    partners: &Partners,
    variant: &Arc<Variant>,
    seed: EpisodeSeed,
    stop: &AtomicBool,
) -> bool {
    let episode = seed.episode.wrapping_sub(MAX_DEALS as u64 - 1);
    PartnerGame::new(partners, variant, EpisodeSeed { episode, ..seed }, stop).seed() == seed
}

/// The episodes that a finished game may be, if the next one that was dealt has this seed.
pub fn episodes_before(
    next: EpisodeSeed,
    with_partners: bool,
) -> impl Iterator<Item = EpisodeSeed> {
    let most = if with_partners { MAX_DEALS as u64 } else { 1 };
    let before = move |back| EpisodeSeed { episode: next.episode.wrapping_sub(back), ..next };
    (1..=most).map(before)
}

/// Whether a game has the deck of this episode.
pub fn has_deck_of(game: &Game, variant: &Variant, seed: EpisodeSeed) -> bool {
    let (mut deck, _) = RandomDeck::new(variant, seed);
    while deck.size > game.deck.size {
        deck.draw(variant);
    }
    deck == game.deck
}
