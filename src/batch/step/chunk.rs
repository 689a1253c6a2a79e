//! A run of neighbouring games, with everything that a step writes for them.

use crate::batch::config::BatchConfig;
use crate::batch::games::{Blocks, Games};
use crate::batch::kernel::block::block_words;
use crate::batch::kernel::draw_order::DrawOrder;
use crate::batch::kernel::lanes::{LANES, Word};
use crate::batch::outputs::Outputs;
use crate::batch::step::seeding::GameSeed;
use crate::batch::tables::partner_game::PartnerGame;

/// The number of blocks that pass each stage of a step together. One stage writes single lanes of a
/// word, and the next one reads whole words. A load that is wider than a recent store waits for that
/// store, so other blocks come in between.
pub(in crate::batch) const GROUP: usize = 8;

/// The number of games in a group.
pub(in crate::batch) const GROUP_GAMES: usize = GROUP * LANES;

/// Neighbouring games of a batch, with their parts of the output buffers.
#[derive(Debug, Default)]
pub(in crate::batch) struct Chunk<'a> {
    /// The index of the first game in the batch.
    pub first: usize,
    /// The games, in whole blocks; empty in a batch with partners.
    pub blocks: &'a mut [Word],
    /// The games of a batch with partners; empty in one without.
    pub tables: &'a mut [PartnerGame],
    pub seeds: &'a mut [GameSeed],
    /// The given deck of each game; empty if no game has one.
    pub decks: &'a mut [Option<DrawOrder>],
    pub outputs: Outputs<'a>,
}

impl<'a> Chunk<'a> {
    /// All games of a batch.
    pub fn new(games: &'a mut Games, seeds: &'a mut [GameSeed], outputs: Outputs<'a>) -> Chunk<'a> {
        let none = Chunk { seeds, outputs, ..Chunk::default() };
        match games {
            Games::Blocks(Blocks { words, decks, .. }) => Chunk { blocks: words, decks, ..none },
            Games::Tables(tables) => Chunk { tables, ..none },
        }
    }

    /// The number of games.
    pub fn len(&self) -> usize {
        self.seeds.len()
    }

    pub fn is_empty(&self) -> bool {
        self.seeds.is_empty()
    }

    /// The words of the block that a game is in, by the game's index in the chunk; a block has
    /// `size` words.
    #[inline(always)]
    pub fn block(&mut self, game: usize, size: usize) -> &mut [Word] {
        &mut self.blocks[game / LANES * size..][..size]
    }

    /// The first games, which are whole blocks or all there are, and the others.
    pub fn split_at(self, games: usize, config: &BatchConfig) -> (Chunk<'a>, Chunk<'a>) {
        let words = games.div_ceil(LANES) * block_words(config.kernel_variant.constants);
        let (blocks, other_blocks) = self.blocks.split_at_mut(words.min(self.blocks.len()));
        let (seeds, other_seeds) = self.seeds.split_at_mut(games);
        let (tables, other_tables) = self.tables.split_at_mut(games.min(self.tables.len()));
        let (decks, other_decks) = self.decks.split_at_mut(games.min(self.decks.len()));
        let (outputs, other_outputs) = self.outputs.split_at(games, config);
        let first = self.first;
        (
            Chunk { first, blocks, tables, seeds, decks, outputs },
            Chunk {
                first: first + games,
                blocks: other_blocks,
                tables: other_tables,
                seeds: other_seeds,
                decks: other_decks,
                outputs: other_outputs,
            },
        )
    }
}
