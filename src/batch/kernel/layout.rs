//! Where the blocks of a batch lie in memory.

use std::ops::Range;

use super::lanes::{LANES, Word};

/// Where the blocks of a batch lie: one share for each thread, with gaps between the shares.
#[derive(Clone, Copy, Debug)]
pub struct BlockLayout {
    /// The number of games in each share but the last: whole blocks.
    pub share_games: usize,
    /// The number of words in a block.
    pub block_words: usize,
}

impl BlockLayout {
    /// The number of words between two shares. The hardware prefetcher of one thread's processor
    /// reads beyond the end of its share; without a gap it would take cache lines from the next
    /// thread.
    pub const GAP: usize = (32 << 10) / size_of::<Word>();

    pub fn new(games: usize, threads: usize, block_words: usize) -> BlockLayout {
        let share_games = games.div_ceil(threads).next_multiple_of(LANES);
        BlockLayout { share_games, block_words }
    }

    /// The number of words for so many games.
    pub fn words(self, games: usize) -> usize {
        self.first_word(games - 1) + self.block_words
    }

    /// The words of the block that a game is in.
    pub fn block(self, game: usize) -> Range<usize> {
        let first = self.first_word(game);
        first..first + self.block_words
    }

    fn first_word(self, game: usize) -> usize {
        game / LANES * self.block_words + game / self.share_games * BlockLayout::GAP
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_stand_apart_where_another_share_begins() {
        for (games, threads) in [(1, 1), (8, 3), (17, 2), (100, 4), (1000, 7), (1024, 1024)] {
            let layout = BlockLayout::new(games, threads, 5);
            let mut end = 0;
            for first in (0..games).step_by(LANES) {
                let block = layout.block(first);
                let begins = first > 0 && first % layout.share_games == 0;
                assert_eq!(block.start - end, if begins { BlockLayout::GAP } else { 0 });
                assert_eq!(layout.block((first + LANES).min(games) - 1), block);
                end = block.end;
            }
            assert_eq!(layout.words(games), end);
            assert!(games.div_ceil(layout.share_games) <= threads);
        }
    }
}
