//! Games that are played are added to a [`Recording`].

use std::collections::TryReserveError;

use super::runner::GameRunner;
use crate::rules::{Deck, RandomDeck, Recording};

impl Recording {
    /// Adds the runner's game as it stands.
    ///
    /// # Errors
    /// `TryReserveError` if there is no memory for it.
    #[expect(clippy::missing_panics_doc, reason = "a played move has an action")]
    pub fn add(&mut self, runner: &GameRunner) -> Result<(), TryReserveError> {
        let variant = runner.variant();
        let (mut deck, start_player) = RandomDeck::new(variant, runner.seed());
        self.reserve(1, variant.deck_size().into(), runner.length())?;
        self.decks.extend(std::iter::from_fn(|| deck.draw(variant)));
        self.start_players.push(start_player.into());
        let actions = runner.history().iter().map(|event| {
            let action = variant.move_to_action(event.played);
            u8::from(action.expect("a played move has an action"))
        });
        self.actions.extend(actions);
        self.ends.push(self.actions.len() as u64);
        Ok(())
    }
}
