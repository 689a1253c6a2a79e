//! The memory that each thread has for itself during a step.

use std::collections::TryReserveError;

use crate::batch::config::BatchConfig;
use crate::batch::kernel::block::block_words;
use crate::batch::rows::packed_rows::PackedRows;
use crate::batch::step::finished_games::FinishedGames;
use crate::nn::PolicyScratch;

/// The memory of one thread, on cache lines of its own. The alignment is two lines, because
/// processors prefetch lines in pairs.
#[derive(Debug)]
#[repr(align(128))]
pub(in crate::batch) struct Scratch {
    /// The rows of the block that is being written.
    pub packed: PackedRows,
    pub finished: FinishedGames,
    /// For policies among the partners.
    pub policies: PolicyScratch,
}

impl Scratch {
    /// With memory for `games` games that end in one step.
    pub fn new(config: &BatchConfig, games: usize) -> Result<Scratch, TryReserveError> {
        let finished = FinishedGames::with_capacity(games, block_words(config.plan.sizes))?;
        let packed = PackedRows::new(&config.layout, config.num_observers());
        Ok(Scratch { packed, finished, policies: PolicyScratch::default() })
    }

    pub fn try_clone(&self) -> Result<Scratch, TryReserveError> {
        let (packed, finished) = (self.packed.clone(), self.finished.try_clone()?);
        Ok(Scratch { packed, finished, policies: PolicyScratch::default() })
    }
}
