//! Games that are played are added to a [`Recording`], and recorded games are checked on several threads.

use std::collections::TryReserveError;
use std::sync::atomic::AtomicBool;

use super::runner::GameRunner;
use crate::buffers::try_with_capacity;
use crate::rules::{Deck, DeckError, GameCheck, RandomDeck, Recording, Variant};
use crate::threads::{is_set, share};

/// The number of games that a thread takes at a time.
const PIECE: usize = 1 << 10;

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

/// Plays all recorded games by the rules, see [`Recording::check`], unless `stop` is set meanwhile, and
/// describes what came of each. A thread that cannot be started leaves its games to the others.
///
/// # Errors
/// `TryReserveError` if there is no memory for the descriptions.
pub fn check_games<T: Clone + Default + Send>(
    stop: &AtomicBool,
    variant: &Variant,
    games: &Recording,
    threads: usize,
    describe: impl Fn(Result<GameCheck, DeckError>) -> T + Sync,
) -> Result<Vec<T>, TryReserveError> {
    let mut described = try_with_capacity(games.len())?;
    described.resize(games.len(), T::default());
    let pieces = described.chunks_mut(PIECE).enumerate();
    share(pieces, &mut vec![(); threads.max(1)], |(), (index, piece)| {
        for (described, game) in piece.iter_mut().zip(index * PIECE..) {
            *described = describe(games.check(variant, game));
        }
        !is_set(stop)
    });
    Ok(described)
}
