//! New hands for a belief that has too few.

use super::{BlueprintBelief, CHUNK, MIN_LIKELIHOOD};
use crate::rules::{Belief, GameRng, SeenGame, mix_seed};
use crate::search::blueprint::{Blueprint, WeighedHand};
use crate::search::error::SearchError;
use crate::search::parallel::map;

/// A refill draws at most this many hands for each hand that is wanted.
const DRAWS: usize = 10;

/// Hands drawn at a time.
const BLOCK: usize = 512;

impl BlueprintBelief {
    /// Draws possible hands that explain the game so far, until there are as many as wanted. `most`
    /// is the likelihood of the likeliest hand.
    pub(super) fn refill(
        &mut self,
        game: &SeenGame,
        most: f64,
        workers: &mut [Blueprint],
    ) -> Result<(), SearchError> {
        let belief = Belief::new(&game.view());
        self.is_exact = false;
        let seed = self.next_seed();
        let kept = (self.effective_size() as usize).min(self.wanted);
        self.particles = if kept == 0 { Vec::new() } else { self.resampled(kept) };
        let (is_explained, mistake) = (&self.is_explained, self.mistake);
        for first in (0..self.wanted * DRAWS).step_by(BLOCK) {
            if self.particles.len() >= self.wanted {
                break;
            }
            let particles = map(workers, BLOCK, CHUNK, |worker, chunk| {
                let chunk = first + chunk.start..first + chunk.end;
                let mut rng = GameRng::from_state(mix_seed(!seed, chunk.start as u64));
                let hands: Vec<WeighedHand> =
                    chunk.filter_map(|index| drawn(&belief, seed, index)).collect();
                let mut particles =
                    worker.replay(game, is_explained, mistake, MIN_LIKELIHOOD * most, &hands);
                particles.retain(|particle| {
                    particle.weight >= most || rng.fraction() * most < particle.weight
                });
                particles.iter_mut().for_each(|particle| particle.weight = 1.0);
                particles
            })?;
            self.particles.extend(particles);
        }
        self.particles.truncate(self.wanted);
        Ok(())
    }

    /// As [`BlueprintBelief::refill`], when no hand that was drawn explains the game: with the
    /// mistakes among these hands.
    pub(super) fn refill_despite_mistakes(
        &mut self,
        workers: &mut [Blueprint],
    ) -> Result<(), SearchError> {
        let (game, before) = (self.game.clone(), self.seed);
        let belief = Belief::new(&game.view());
        let seed = self.next_seed();
        let draws = (self.wanted * DRAWS).next_multiple_of(BLOCK);
        let hands = map(workers, draws, CHUNK, |_, chunk| {
            chunk.filter_map(|index| drawn(&belief, seed, index)).collect()
        })?;
        let most = self.find_mistakes(&hands, workers)?;
        // The same hands are drawn again.
        self.seed = before;
        self.refill(&game, most, workers)
    }
}

/// Draws hand number `index` of a refill.
fn drawn(belief: &Belief, seed: u64, index: usize) -> Option<WeighedHand> {
    let mut rng = GameRng::from_state(mix_seed(seed, index as u64));
    Some((belief.sample_indices(&mut rng)?, 1.0))
}
