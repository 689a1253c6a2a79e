use std::ops::Range;

use super::lanes::{LANES, Word};

/// Where the games of each share are.
#[derive(Clone, Copy, Debug)]
pub struct BlockLayout {
    /// How many games each share has, but for the last: whole blocks.
    pub each: usize,
    /// Words of a block.
    pub size: usize,
}

impl BlockLayout {
    /// Words between two shares. A processor fetches ahead of what it is asked for, here beyond the
    /// end of its share; its neighbour then has to get those words back before it can write them.
    pub const GAP: usize = (32 << 10) / size_of::<Word>();

    pub fn new(games: usize, threads: usize, size: usize) -> BlockLayout {
        BlockLayout { each: games.div_ceil(threads).next_multiple_of(LANES), size }
    }

    /// Words for so many games.
    pub fn words(self, games: usize) -> usize {
        self.first_word(games - 1) + self.size
    }

    /// The block that a game is in.
    pub fn block(self, game: usize) -> Range<usize> {
        let first = self.first_word(game);
        first..first + self.size
    }

    fn first_word(self, game: usize) -> usize {
        game / LANES * self.size + game / self.each * BlockLayout::GAP
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
                let begins = first > 0 && first % layout.each == 0;
                assert_eq!(block.start - end, if begins { BlockLayout::GAP } else { 0 });
                assert_eq!(layout.block((first + LANES).min(games) - 1), block);
                end = block.end;
            }
            assert_eq!(layout.words(games), end);
            assert!(games.div_ceil(layout.each) <= threads);
        }
    }
}
