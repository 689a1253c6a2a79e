use std::collections::TryReserveError;

use super::config::BatchConfig;
use super::finished::Finished;
use super::kernel::layout::BlockLayout;
use super::rows::packed::PackedRows;

/// What each thread has for itself, in lines of memory of its own.
#[derive(Debug)]
#[repr(align(128))]
pub struct Scratch {
    pub encoded: PackedRows,
    pub finished: Finished,
}

impl Scratch {
    pub fn new(config: &BatchConfig, layout: BlockLayout) -> Result<Scratch, TryReserveError> {
        let finished = Finished::with_room(layout.each, layout.size)?;
        Ok(Scratch { encoded: PackedRows::new(&config.layout, config.observers()), finished })
    }

    pub fn duplicate(&self) -> Result<Scratch, TryReserveError> {
        Ok(Scratch { encoded: self.encoded.clone(), finished: self.finished.duplicate()? })
    }
}
