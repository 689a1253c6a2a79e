//! A run of neighbouring games, with everything that a step writes for them.

use super::config::BatchConfig;
use super::kernel::lanes::{LANES, Word};
use super::outputs::Outputs;
use super::partners::game::PartnerGame;
use super::seeding::GameSeed;

/// Blocks that go through each stage together: what one stage writes game by game is then not read
/// at once as whole words by the next, which processors are slow at.
pub(super) const GROUP: usize = 8;

/// Games of a batch that lie together, with all that is written for them.
#[derive(Debug, Default)]
pub(super) struct Chunk<'a> {
    /// The index of the first game.
    pub first: usize,
    pub blocks: &'a mut [Word],
    pub seeds: &'a mut [GameSeed],
    /// The same games once more where there are partners, else nothing.
    pub partner_games: &'a mut [PartnerGame],
    pub outputs: Outputs<'a>,
}

impl<'a> Chunk<'a> {
    /// Number of games.
    pub fn len(&self) -> usize {
        self.seeds.len()
    }

    pub fn is_empty(&self) -> bool {
        self.seeds.is_empty()
    }

    /// So many games, whole blocks of them, and the others.
    pub fn split_at(self, games: usize, config: &BatchConfig) -> (Chunk<'a>, Chunk<'a>) {
        let words = games.div_ceil(LANES) * config.plan.sizes.block_words();
        let (blocks, other_blocks) = self.blocks.split_at_mut(words);
        let (seeds, other_seeds) = self.seeds.split_at_mut(games);
        let (partner_games, other_partner_games) =
            self.partner_games.split_at_mut(games.min(self.partner_games.len()));
        let (outputs, other_outputs) = self.outputs.split_at(games, config);
        let first = self.first;
        (
            Chunk { first, blocks, seeds, partner_games, outputs },
            Chunk {
                first: first + games,
                blocks: other_blocks,
                seeds: other_seeds,
                partner_games: other_partner_games,
                outputs: other_outputs,
            },
        )
    }
}
