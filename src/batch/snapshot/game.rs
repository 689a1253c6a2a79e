//! The stored form of one game.

use std::ops::RangeInclusive;
use std::slice;

use serde::{Deserialize, Serialize};

use crate::batch::config::BatchConfig;
use crate::batch::kernel::game::Game;
use crate::batch::step::scratch::Scratch;
use crate::batch::tables::partner_game::PartnerGame;
use crate::bots::{BotTurns, advance};
use crate::rules::{EpisodeSeed, GameRng, Position, PositionError, RandomDeck, Variant};

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

    /// The game, if the position fits the variant, the seed's deck has the cards that it lacks, and the number of
    /// turns is possible.
    pub fn restore(&self, variant: &Variant) -> Result<Game, PositionError> {
        let StoredGame { seed, length, position } = *self;
        position.validate(variant)?;
        if !possible_lengths(variant, &position).contains(&length.into()) {
            let problem = "not the turns of these cards and tokens";
            return Err(PositionError { field: "length", problem });
        }
        let (mut deck, _) = RandomDeck::new(variant, seed);
        while deck.size > position.deck_size {
            deck.draw(variant);
        }
        let rest = position.remaining_deck(variant, GameRng::for_deal(seed)).left;
        let copies = |field: u64| ((deck.left & field).count_ones(), (rest & field).count_ones());
        let mut copies = variant.tables().copy_field[..variant.num_card_kinds()]
            .iter()
            .map(|&field| copies(field));
        if !copies.all(|(left, missing)| left == missing) {
            return Err(PositionError { field: "hands", problem: "cards that the deck still has" });
        }
        Ok(Game { position, deck, seed, length })
    }
}

/// The numbers of turns that can lead to a position: one for each card that left a hand, one for each token that a hint
/// took, and one if an illegal action ended the game.
fn possible_lengths(variant: &Variant, position: &Position) -> RangeInclusive<u32> {
    let cards = u32::from(position.fireworks_sum()) + position.discards.count_ones();
    let most_regained = 1 + u32::from(variant.timed_display());
    let spent = variant.max_information_tokens() - position.information_tokens;
    cards..=cards + u32::from(spent) + cards * most_regained + 1
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
    pub fn of(table: &PartnerGame) -> StoredPartnerGame {
        let (seed, actions) = (table.seed(), table.actions());
        StoredPartnerGame { seed, actions, forfeited: table.forfeited }
    }

    /// Plays the game again. If the call is stopped, the result means nothing.
    pub fn restore(
        &self,
        config: &BatchConfig,
        scratch: &mut Scratch,
    ) -> Result<PartnerGame, PositionError> {
        let BatchConfig { options, variant, .. } = config;
        let mut table = PartnerGame::deal(&options.partners, variant, self.seed);
        let are_legal = table.resume(&self.actions, |table| {
            scratch.bots.open.push(0);
            let failed = |_, table: &mut PartnerGame, error| table.fail(error);
            advance(slice::from_mut(table), BotTurns::UntilExternal, &mut scratch.bots, failed);
        });
        if !are_legal {
            let problem = "not legal, or the partners play differently in this version";
            return Err(PositionError { field: "actions", problem });
        }
        if self.forfeited && !table.is_over() {
            table.forfeit();
        }
        Ok(table)
    }
}
