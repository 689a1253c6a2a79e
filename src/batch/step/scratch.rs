//! The memory that each thread has for itself during a step.

use std::collections::TryReserveError;

use crate::batch::config::BatchConfig;
use crate::batch::kernel::block::block_words;
use crate::batch::rows::packed::PackedRows;
use crate::batch::step::finished::Finished;

/// The memory of one thread, on cache lines of its own. The alignment is two lines, because
/// processors prefetch lines in pairs.
#[derive(Debug)]
#[repr(align(128))]
pub(in crate::batch) struct Scratch {
    /// The rows of the block that is being written.
    pub packed: PackedRows,
    pub finished: Finished,
}

impl Scratch {
    /// With room for so many games that end in one step.
    pub fn new(config: &BatchConfig, games: usize) -> Result<Scratch, TryReserveError> {
        let finished = Finished::with_room(games, block_words(config.plan.sizes))?;
        Ok(Scratch { packed: PackedRows::new(&config.layout, config.observers()), finished })
    }

    pub fn duplicate(&self) -> Result<Scratch, TryReserveError> {
        Ok(Scratch { packed: self.packed.clone(), finished: self.finished.duplicate()? })
    }
}
