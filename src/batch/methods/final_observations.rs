//! The games that ended in the last step and were dealt anew in it: which they are, and their last
//! observations, which the last stage of a step encodes from copies of the games.

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
    /// [`BatchError::Memory`] if there is no memory for their indices.
    pub fn finished(&self) -> Result<Vec<usize>, BatchError> {
        let finished = self.finished_games()?;
        let mut games = reserve(finished.len(), self.num_envs())?;
        games.extend(finished.iter().map(|finished| finished.game));
        Ok(games)
    }

    /// How many games ended in the last step and were dealt anew in it.
    pub fn num_finished(&self) -> usize {
        self.scratch.iter().map(|scratch| scratch.finished.games(self.calls).len()).sum()
    }

    /// Where the last words of the finished games are, in ascending order of the games.
    pub(in crate::batch) fn finished_games(&self) -> Result<Vec<FinishedGame>, BatchError> {
        let mut all = reserve(self.num_finished(), self.num_envs())?;
        for (thread, scratch) in self.scratch.iter().enumerate() {
            let games = scratch.finished.games(self.calls).iter().enumerate();
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
    /// [`BatchError::Buffer`] for a buffer of another length, or of a type that does not fit
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
        let size = block_words(self.config.plan.sizes);
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
        let step = Step::new(&self.config, self.acting_hand, Request::Observe);
        let mut games = Chunk {
            first: 0,
            blocks: &mut blocks,
            seeds: &mut seeds,
            partner_games: &mut [],
            decks: &mut [],
            outputs,
        };
        step.run(&mut games, &mut self.scratch[0]);
        BatchError::check_stop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{IllegalAction, Options};
    use crate::buffers::WriteOnly;
    use crate::rules::Variant;
    use crate::threads::{Stop, stoppable};

    #[test]
    fn rows_that_a_stopped_call_does_not_write_are_an_error() {
        let options = Options { illegal_action: IllegalAction::Terminate, ..Options::default() };
        let mut batch = Batch::new(Variant::default(), 3, 0, options).unwrap();
        batch.step(&[-1; 3], Outputs::default()).unwrap();
        let mut rows = vec![0.0; 3 * batch.row_length()];
        let mut write = |stop| {
            let buffer = ObservationBuffer::Float32(WriteOnly::new(&mut rows));
            stoppable(stop, || batch.write_final_observations(buffer))
        };
        let stop = Stop::default();
        stop.set();
        assert!(matches!(write(Some(stop)), Err(BatchError::Stopped)));
        write(None).unwrap();
    }
}
