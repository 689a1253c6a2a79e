//! The games that ended in the last step and were dealt anew in it: which they are, and their last
//! observations, which are encoded from copies of the games when they are asked for.

use crate::batch::kernel::block::{block_words, clear_block};
use crate::batch::kernel::lanes::{LANES, Word};
use crate::batch::outputs::{ObservationBuffer, Outputs};
use crate::batch::step::chunk::Chunk;
use crate::batch::step::finished_games::FinishedGame;
use crate::batch::step::{Request, Step};
use crate::batch::{Batch, BatchError, reserve};
use crate::rules::EpisodeSeed;

impl Batch {
    /// The games that ended in the last step and were dealt anew in it (autoreset `SameStep`), in
    /// ascending order.
    ///
    /// # Errors
    /// [`BatchError::Interrupted`], or [`BatchError::Memory`] if there is no memory for their indices.
    pub fn finished(&self) -> Result<Vec<usize>, BatchError> {
        let finished = self.finished_games()?;
        let mut games = reserve(finished.len(), self.num_envs())?;
        games.extend(finished.iter().map(|finished| finished.game));
        Ok(games)
    }

    /// How many games ended in the last step and were dealt anew in it.
    ///
    /// # Panics
    /// If an earlier call was interrupted halfway.
    pub fn num_finished(&self) -> usize {
        self.whole_games();
        self.scratch.iter().map(|scratch| scratch.finished.games(self.num_calls).len()).sum()
    }

    /// Where the last words of the finished games are, in ascending order of the games.
    pub(in crate::batch) fn finished_games(&self) -> Result<Vec<FinishedGame>, BatchError> {
        self.check_whole()?;
        let mut all = reserve(self.num_finished(), self.num_envs())?;
        for (thread, scratch) in self.scratch.iter().enumerate() {
            let games = scratch.finished.games(self.num_calls).iter().enumerate();
            all.extend(games.map(|(index, &game)| FinishedGame { game, thread, index }));
        }
        // Threads take games from each other, so their lists are not in order.
        all.sort_unstable();
        Ok(all)
    }

    /// Writes the last observations of the [`Batch::finished`] games: for each its row, or the rows of
    /// all seats, one after another.
    ///
    /// # Errors
    /// [`BatchError::Interrupted`], [`BatchError::Buffer`] for a buffer of another length, or of a type that does not fit
    /// [`Options::dtype`](crate::batch::Options::dtype), [`BatchError::Memory`] if there is no memory for copies
    /// of the games.
    pub fn write_final_observations(
        &mut self,
        buffer: ObservationBuffer<'_>,
    ) -> Result<(), BatchError> {
        let finished = self.finished_games()?;
        let count = finished.len();
        let outputs = Outputs { obs: Some(buffer), ..Outputs::default() };
        outputs.check(&self.config, count)?;
        let size = block_words(self.config.kernel_variant.constants);
        let words = count.div_ceil(LANES) * size;
        let mut blocks = reserve(words, self.num_envs())?;
        let mut seeds = reserve(count, self.num_envs())?;
        blocks.resize(words, Word::default());
        seeds.resize(count, EpisodeSeed::default().into());
        blocks.chunks_mut(size).for_each(clear_block);
        for (row, ended) in finished.into_iter().enumerate() {
            let block = &mut blocks[row / LANES * size..][..size];
            self.scratch[ended.thread].finished.restore(ended.index, block, row % LANES);
        }
        let step = Step::new(&self.config, self.games.acting_hand(), false, Request::Observe);
        let mut games =
            Chunk { blocks: &mut blocks, seeds: &mut seeds, outputs, ..Chunk::default() };
        step.run(&mut games, &mut self.scratch[0]);
        Ok(())
    }
}
