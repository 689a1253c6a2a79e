//! The games of a batch, a part for each thread.

use std::slice::{ChunksMut, IterMut};

use super::buffers::Outputs;
use super::chunk::Chunk;
use super::finished::Finished;
use super::lanes::Word;
use super::rows::Scratch;
use super::seated::Seated;
use super::shared::Shared;
use crate::rules::EpisodeSeed;

/// What each thread has for itself, in lines of memory of its own.
#[derive(Clone, Debug)]
#[repr(align(128))]
pub(super) struct PerThread {
    pub scratch: Scratch,
    pub finished: Finished,
}

/// The games, a part for each thread.
pub(super) struct Parts<'a> {
    /// The index of the next part's first game.
    pub first: usize,
    /// Games of a part.
    pub games: usize,
    pub blocks: ChunksMut<'a, Word>,
    pub seeds: ChunksMut<'a, EpisodeSeed>,
    pub seated: ChunksMut<'a, Seated>,
    pub threads: IterMut<'a, PerThread>,
    pub outputs: Outputs<'a>,
    pub shared: &'a Shared,
}

impl<'a> Iterator for Parts<'a> {
    type Item = Chunk<'a>;

    fn next(&mut self) -> Option<Chunk<'a>> {
        let (blocks, seeds) = (self.blocks.next()?, self.seeds.next()?);
        let PerThread { scratch, finished } = self.threads.next()?;
        let (outputs, rest) = std::mem::take(&mut self.outputs).split_at(seeds.len(), self.shared);
        let seated = self.seated.next().unwrap_or_default();
        let first = self.first;
        self.outputs = rest;
        self.first += self.games;
        Some(Chunk { first, blocks, seeds, seated, scratch, finished, outputs })
    }
}
