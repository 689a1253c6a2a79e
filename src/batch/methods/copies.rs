//! Copies of a batch.

use crate::batch::step::partition::Partition;
use crate::batch::step::scratch::Scratch;
use crate::batch::{Batch, BatchError, memory, reserve};
use crate::threads::Pool;

impl Batch {
    /// An independent copy of the batch in the same state.
    ///
    /// # Errors
    /// [`BatchError::Interrupted`], [`BatchError::Memory`] if there is no memory for the copy, or
    /// [`BatchError::Threads`] if its threads cannot be started.
    pub fn try_clone(&self) -> Result<Batch, BatchError> {
        self.check_whole()?;
        let num_envs = self.num_envs();
        let games = self.games.try_clone().map_err(|error| memory(num_envs, error))?;
        BatchError::check_stop()?;
        let mut seeds = reserve(num_envs, num_envs)?;
        seeds.extend_from_slice(&self.seeds);
        let scratch = self.scratch.iter().map(Scratch::try_clone).collect::<Result<_, _>>();
        let scratch = scratch.map_err(|error| memory(num_envs, error))?;
        Ok(Batch {
            pool: Pool::new(self.config.options.num_threads).map_err(BatchError::Threads)?,
            config: self.config.clone(),
            games,
            seeds,
            num_calls: self.num_calls,
            seed: self.seed,
            fresh: self.fresh,
            has_worlds: self.has_worlds,
            is_interrupted: false,
            scratch,
            partition: Partition::default(),
        })
    }
}
