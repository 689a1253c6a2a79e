//! Copies of a batch.

use crate::batch::step::partition::Partition;
use crate::batch::step::scratch::Scratch;
use crate::batch::{Batch, BatchError, memory, reserve};
use crate::threads::Pool;

impl Batch {
    /// An independent copy of the batch in the same state.
    ///
    /// # Errors
    /// [`BatchError`] if the memory cannot be allocated or the threads cannot be started.
    pub fn try_clone(&self) -> Result<Batch, BatchError> {
        self.check_whole()?;
        let num_envs = self.num_envs();
        let mut blocks = reserve(self.blocks.len(), num_envs)?;
        blocks.extend_from_slice(&self.blocks);
        let mut seeds = reserve(num_envs, num_envs)?;
        seeds.extend_from_slice(&self.seeds);
        let mut decks = reserve(self.decks.len(), num_envs)?;
        decks.extend_from_slice(&self.decks);
        let mut partner_games = reserve(self.partner_games.len(), num_envs)?;
        for game in &self.partner_games {
            BatchError::check_stop()?;
            partner_games.push(game.clone());
        }
        let scratch = self.scratch.iter().map(Scratch::try_clone).collect::<Result<_, _>>();
        let scratch = scratch.map_err(|error| memory(num_envs, error))?;
        Ok(Batch {
            pool: Pool::new(self.config.options.num_threads).map_err(BatchError::Threads)?,
            config: self.config.clone(),
            blocks,
            seeds,
            partner_games,
            decks,
            acting_hand: self.acting_hand,
            calls: self.calls,
            seed: self.seed,
            fresh: self.fresh,
            has_worlds: self.has_worlds,
            is_interrupted: false,
            scratch,
            partition: Partition::default(),
        })
    }
}
