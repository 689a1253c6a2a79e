//! Worlds: the same positions with the hidden cards drawn anew.

use std::sync::Mutex;

use crate::batch::games::{Blocks, Games};
use crate::batch::kernel::block::{GameLane, block_words};
use crate::batch::kernel::lanes::LANES;
use crate::batch::options::{AutoresetMode, Options};
use crate::batch::{Batch, BatchError, Partners, WorldsError};
use crate::buffers::check_length;
use crate::rules::{Belief, EpisodeSeed, GameRng, RngPurpose, Seat, View};
use crate::threads::{is_stopped, locked, take_pieces};

/// Which worlds [`Batch::write_worlds`] draws.
#[derive(Clone, Copy, Debug)]
pub struct Worlds<'a> {
    /// How many worlds of each game are drawn; they stand side by side.
    pub count: usize,
    /// Determines the draws: world `i` is a function of its position, the seed and `i`.
    pub seed: u64,
    /// Whose cards are hidden, besides the deck; `None` for the seat to act.
    pub observer: Option<Seat>,
    /// Of which games worlds are drawn; `None` for all. [`Batch::write_worlds`] does not touch those of the others; in
    /// [`Batch::worlds`] they are new deals.
    pub games: Option<&'a [bool]>,
}

impl Batch {
    /// Draws worlds of all games into a new batch: games in the same position as far as the
    /// observer can tell, with the observer's hand and the order of the deck drawn anew. All
    /// assignments of the unseen cards that the hints allow are equally likely, as in
    /// [`Belief::sample`]. Nothing is concluded from the choices of the players.
    ///
    /// The new batch has the options of this one, but no partners: all seats act in it. A game in it
    /// that ends is followed by ordinary games of the new batch, seeded by `worlds.seed`.
    ///
    /// ```
    /// use starmine::batch::{Batch, Options, Worlds};
    /// use starmine::rules::{Seat, Variant};
    ///
    /// let batch = Batch::new(Variant::default(), 4, 1, Options::default())?;
    /// let worlds = batch.worlds(Worlds { count: 2, seed: 7, observer: None, games: None })?;
    /// let cards = |batch: &Batch, game| batch.look(game, Seat::FIRST, |view| format!("{view}"));
    /// assert_eq!(worlds.num_envs(), 8);
    /// assert_eq!(cards(&worlds, 3), cards(&batch, 1));
    /// # Ok::<(), starmine::batch::BatchError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Batch::new`] and [`Batch::write_worlds`].
    pub fn worlds(&self, worlds: Worlds<'_>) -> Result<Batch, BatchError> {
        self.check_worlds(&worlds, self.options().autoreset_mode)?;
        let options = Options { partners: Partners::default(), ..self.options().clone() };
        let num_envs = self.num_envs().saturating_mul(worlds.count);
        let mut into = Batch::new(self.variant().clone(), num_envs, worlds.seed, options)?;
        self.draw_worlds(worlds, &mut into)?;
        Ok(into)
    }

    /// As [`Batch::worlds`], into a batch of the caller's: world `w` of game `g` replaces its game
    /// `count * g + w`. Nothing is allocated. The batch must be reset before it can be stored again.
    ///
    /// # Errors
    /// [`BatchError::Interrupted`] if one of the batches was interrupted, and
    /// [`BatchError::Worlds`] if `into` has another variant or number of games, or partners, or resets
    /// in the same step while a chosen game is over, or if there is no such observer;
    /// [`BatchError::Buffer`] for another number of flags.
    pub fn write_worlds(&self, worlds: Worlds<'_>, into: &mut Batch) -> Result<(), BatchError> {
        self.check_worlds(&worlds, into.options().autoreset_mode)?;
        self.check_into(&worlds, into)?;
        self.draw_worlds(worlds, into)
    }

    /// As [`Batch::write_worlds`], after its checks.
    fn draw_worlds(&self, worlds: Worlds<'_>, into: &mut Batch) -> Result<(), BatchError> {
        (into.is_interrupted, into.fresh) = (true, false); // interrupted until all worlds are whole
        let size = block_words(into.config.kernel_variant.constants);
        let variant = &self.config.variant;
        let Games::Blocks(Blocks { words, decks, acting_hand, .. }) = &mut into.games else {
            return Err(WorldsError::Partners.into());
        };
        let (acting_hand, queue) = (*acting_hand, [Mutex::new(words.chunks_mut(size).enumerate())]);
        let is_drawn = |world: usize| {
            let game = world / worlds.count;
            game < self.num_envs() && worlds.games.is_none_or(|games| games[game])
        };
        into.pool.run(|_| {
            let next = |_: &mut (), queue: &Mutex<_>, _| Iterator::next(&mut *locked(queue));
            take_pieces(&queue, 0, &mut (), next, |(), (block, words)| {
                for lane in 0..LANES {
                    let world = block * LANES + lane;
                    if is_drawn(world) {
                        let mut game = self.copy_game(world / worlds.count);
                        let seed =
                            EpisodeSeed { seed: worlds.seed, game: world as u64, episode: 0 };
                        let mut rng = GameRng::for_purpose(seed, RngPurpose::World);
                        let observer = worlds.observer.unwrap_or(game.position.current_player);
                        let view = View::new(variant, &game.position, observer);
                        let belief = Belief::new(&view);
                        // Positions of forged bytes need not allow any hand: theirs stays.
                        if let Some(hand) = belief.sample_indices(&mut rng) {
                            game.position = view.position_with_hand(&hand[..belief.slots()]);
                        }
                        game.deck = game.position.remaining_deck(variant, rng);
                        game.put(words, GameLane { lane, acting_hand }, variant);
                    }
                }
                !is_stopped()
            });
        });
        BatchError::check_stop()?;
        for (_, order) in decks.iter_mut().enumerate().filter(|(world, _)| is_drawn(*world)) {
            *order = None;
        }
        (into.has_worlds, into.is_interrupted) = (true, false);
        into.num_calls += 1;
        Ok(())
    }

    /// Checks what does not depend on the games that the worlds replace, but on their autoreset mode.
    fn check_worlds(&self, worlds: &Worlds<'_>, mode: AutoresetMode) -> Result<(), BatchError> {
        self.check_whole()?;
        let players = self.variant().players();
        if let Some(observer) = worlds.observer.filter(|seat| seat.index() >= players.into()) {
            return Err(WorldsError::Observer { observer, players }.into());
        }
        if let Some(games) = worlds.games {
            check_length("games", games.len(), self.num_envs())?;
        }
        let is_chosen = |game: usize| worlds.games.is_none_or(|games| games[game]);
        let is_over = |&game: &usize| is_chosen(game) && self.is_over(game);
        // Such a batch never deals a game that was over before its step.
        match (0..self.num_envs()).find(is_over) {
            Some(game) if mode == AutoresetMode::SameStep => {
                Err(WorldsError::Finished { game }.into())
            }
            _ => Ok(()),
        }
    }

    /// Checks the batch whose games the worlds replace.
    fn check_into(&self, worlds: &Worlds<'_>, into: &Batch) -> Result<(), BatchError> {
        into.check_whole()?;
        let (found, expected) = (into.num_envs(), self.num_envs().saturating_mul(worlds.count));
        if found != expected {
            return Err(WorldsError::Number { found, expected }.into());
        }
        let [found, expected] = [into.variant(), self.variant()];
        if found != expected {
            let (found, expected) = (found.clone(), expected.clone());
            return Err(WorldsError::Variant { found, expected }.into());
        }
        if into.has_partners() {
            return Err(WorldsError::Partners.into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{Outputs, Seeds};
    use crate::rules::Variant;
    use crate::threads::{Stop, stoppable};

    #[test]
    fn a_reset_replaces_the_worlds_of_a_stopped_call() {
        let batch = Batch::new(Variant::default(), 4, 1, Options::default()).unwrap();
        let mut into = Batch::new(Variant::default(), 8, 2, Options::default()).unwrap();
        let stop = Stop::default();
        stop.set();
        let worlds = Worlds { count: 2, seed: 0, observer: None, games: None };
        let stopped = stoppable(Some(stop), || batch.write_worlds(worlds, &mut into));
        assert!(matches!(stopped, Err(BatchError::Stopped)));
        into.reset(Seeds::Continue, None, Outputs::default()).unwrap();
        assert!(into.episodes().all(|seed| seed.episode == 1));
    }

    #[test]
    fn worlds_that_cannot_be_are_refused_before_a_batch_is_made() {
        let batch = Batch::new(Variant::default(), 4, 1, Options::default()).unwrap();
        let worlds = Worlds { count: usize::MAX, seed: 0, observer: None, games: None };
        let refused = |worlds| batch.worlds(worlds).unwrap_err().to_string();
        let observer = refused(Worlds { observer: Some(Seat::ALL[2]), ..worlds });
        assert_eq!(observer, "observer=2 is not allowed: expected 0 to 1");
        let games = refused(Worlds { games: Some(&[true; 3]), ..worlds });
        assert_eq!(games, "games has 3 elements: expected 4");
        assert!(matches!(batch.worlds(worlds), Err(BatchError::Number { .. })));
    }
}
