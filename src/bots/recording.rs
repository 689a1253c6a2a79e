//! Games as their decks and moves.

use std::collections::TryReserveError;

use super::runner::GameRunner;
use crate::rules::{Deck, RandomDeck};

/// The decks and actions of games, game after game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// The whole deck of each game, the top card first; a card is suit times ranks plus rank.
    pub decks: Vec<u8>,
    /// The seat that starts each game.
    pub start_players: Vec<u8>,
    /// The actions of all games.
    pub actions: Vec<u8>,
    /// The number of actions up to the end of each game.
    pub ends: Vec<u64>,
}

impl Recording {
    /// Adds the runner's game as it stands.
    ///
    /// # Errors
    /// `TryReserveError` if there is no memory for it.
    pub fn add(&mut self, runner: &GameRunner) -> Result<(), TryReserveError> {
        let variant = runner.variant();
        let (mut deck, start_player) = RandomDeck::new(variant, runner.seed());
        self.reserve(1, variant.deck_size().into(), runner.length())?;
        self.decks.extend(std::iter::from_fn(|| deck.draw(variant)));
        self.start_players.push(start_player);
        let actions = runner.history().iter().map(|event| {
            let action = variant.move_to_action(event.played);
            action.expect("a played move has an action") as u8
        });
        self.actions.extend(actions);
        self.ends.push(self.actions.len() as u64);
        Ok(())
    }

    /// Adds the games of another recording.
    ///
    /// # Errors
    /// `TryReserveError` if there is no memory for them.
    pub fn append(&mut self, other: &Recording) -> Result<(), TryReserveError> {
        self.reserve(other.ends.len(), other.decks.len(), other.actions.len())?;
        let before = self.actions.len() as u64;
        self.decks.extend_from_slice(&other.decks);
        self.start_players.extend_from_slice(&other.start_players);
        self.actions.extend_from_slice(&other.actions);
        self.ends.extend(other.ends.iter().map(|end| before + end));
        Ok(())
    }

    fn reserve(
        &mut self,
        games: usize,
        cards: usize,
        actions: usize,
    ) -> Result<(), TryReserveError> {
        self.decks.try_reserve(cards)?;
        self.start_players.try_reserve(games)?;
        self.actions.try_reserve(actions)?;
        self.ends.try_reserve(games)
    }
}
