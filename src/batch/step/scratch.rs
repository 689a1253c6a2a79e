//! The memory that each thread has for itself during a step.

use std::collections::TryReserveError;

use crate::batch::config::BatchConfig;
use crate::batch::kernel::block::{GameLane, block_words, clear_block};
use crate::batch::kernel::game::Game;
use crate::batch::kernel::lanes::Word;
use crate::batch::rows::packed_rows::PackedRows;
use crate::batch::step::finished_games::FinishedGames;
use crate::bots::AdvanceScratch;
use crate::rules::Variant;

/// The memory of one thread, on cache lines of its own. The alignment is two lines, because
/// processors prefetch lines in pairs.
#[derive(Debug)]
#[repr(align(128))]
pub(in crate::batch) struct Scratch {
    /// The rows of the block that is being written.
    pub packed: PackedRows,
    pub finished: FinishedGames,
    /// For bots among the partners.
    pub bots: AdvanceScratch,
    /// A block for games that are not in blocks.
    pub block: Vec<Word>,
}

impl Scratch {
    /// With memory for `games` games that end in one step.
    pub fn new(config: &BatchConfig, games: usize) -> Result<Scratch, TryReserveError> {
        let finished =
            FinishedGames::with_capacity(games, block_words(config.kernel_variant.constants))?;
        let packed = PackedRows::new(&config.layout, config.num_observers());
        let mut block = vec![Word::default(); block_words(config.kernel_variant.constants)];
        clear_block(&mut block);
        Ok(Scratch { packed, finished, bots: AdvanceScratch::default(), block })
    }

    /// Adds a game that has ended to the finished ones.
    pub fn keep_finished(&mut self, index: usize, game: &Game, variant: &Variant) {
        let place = GameLane { lane: 0, acting_hand: 0 };
        game.put(&mut self.block, place, variant);
        self.finished.push(index, &self.block, place.lane);
    }

    pub fn try_clone(&self) -> Result<Scratch, TryReserveError> {
        let (packed, finished) = (self.packed.clone(), self.finished.try_clone()?);
        let block = self.block.clone();
        Ok(Scratch { packed, finished, bots: AdvanceScratch::default(), block })
    }
}
