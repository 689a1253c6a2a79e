//! From the words of a block to the rows of an observation buffer.

use std::ops::Range;

use super::block::{COUNTERS, count, counter};
use super::buffers::ObservationBuffer;
use super::expand::{Element, copy_bits};
use super::kernel::Kernel;
use super::lanes::{Isa, LANES, Lanes, Word};
use super::plan::Sizes;
use super::shared::Shared;
use crate::encode::{CanonicalKnowledge, Layout, encode_into};
use crate::rules::{EpisodeSeed, View};

/// A thread's own memory.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    /// The observations of eight games, a word of each after another.
    words: Vec<Word>,
    /// The same, a game after another.
    rows: Vec<Word>,
}

impl Scratch {
    pub fn new(layout: &Layout) -> Scratch {
        let words = vec![Word::default(); layout.words().next_multiple_of(LANES)];
        Scratch { rows: words.clone(), words }
    }

    /// The row of a game.
    #[inline(always)]
    fn row(&self, lane: usize) -> &[u64] {
        let stride = self.words.len() / LANES;
        let row = &self.rows[lane * stride..][..stride];
        // SAFETY: a `Word` is eight `u64`s in a row (`repr(C)`), without padding.
        unsafe { std::slice::from_raw_parts(row.as_ptr().cast(), row.len() * LANES) }
    }

    #[inline(always)]
    fn transpose<I: Isa>(&mut self, isa: I) {
        let stride = self.rows.len() / LANES;
        for (group, words) in self.words.as_chunks::<LANES>().0.iter().enumerate() {
            let rows = isa.transpose(words);
            for (lane, row) in rows.iter().enumerate() {
                row.store(&mut self.rows[lane * stride + group]);
            }
        }
    }
}

impl<I: Isa, const STANDARD: usize> Kernel<'_, I, STANDARD> {
    /// Fills the scratch with the rows of the seats at this offset from the players to act, for so
    /// many games of the block.
    #[inline(always)]
    pub fn fill_rows(
        &self,
        shared: &Shared,
        block: &[Word],
        step: usize,
        observer: usize,
        games: usize,
        scratch: &mut Scratch,
    ) {
        if let Some(knowledge) = shared.canonical {
            self.encode_as(block, step, observer, knowledge, scratch);
            scratch.transpose(self.isa);
        } else {
            encode_views(self.sizes(), shared, block, step, observer, games, scratch);
        }
    }

    /// Encodes; the usual case is known to the compiler.
    #[inline(always)]
    fn encode_as(
        &self,
        block: &[Word],
        step: usize,
        observer: usize,
        knowledge: CanonicalKnowledge,
        scratch: &mut Scratch,
    ) {
        let words = &mut scratch.words;
        if (observer, knowledge) == (0, CanonicalKnowledge::Hinted) {
            self.encode(block, step, 0, CanonicalKnowledge::Hinted, words);
        } else {
            self.encode(block, step, observer, knowledge, words);
        }
    }

    /// Writes the rows of some games, which are in the block's first lanes.
    #[inline(always)]
    pub fn write_rows(
        &self,
        shared: &Shared,
        block: &[Word],
        step: usize,
        games: &Range<usize>,
        obs: &mut ObservationBuffer<'_>,
        scratch: &mut Scratch,
    ) {
        let (observers, length) = (shared.observers(), shared.row_length());
        for observer in 0..observers {
            self.fill_rows(shared, block, step, observer, games.len(), scratch);
            // Once for each kind of buffer, and not a closure: see `Kernel`.
            macro_rules! write_each {
                ($rows:ident, $words:ident, $row:ident => $write:expr) => {
                    for (lane, game) in games.clone().enumerate() {
                        let start = self.row_of(block, observers, observer, lane, game) * length;
                        let ($words, $row) = (scratch.row(lane), &mut $rows[start..][..length]);
                        $write;
                    }
                };
            }
            let streams = shared.streams;
            match obs {
                ObservationBuffer::Float32(rows) => {
                    write_each!(rows, words, row => self.expand(words, row, streams));
                }
                ObservationBuffer::Float16(rows) => {
                    write_each!(rows, words, row => self.expand(words, row, streams));
                }
                ObservationBuffer::Uint8(rows) => {
                    write_each!(rows, words, row => self.expand(words, row, false));
                }
                ObservationBuffer::Bits(rows) => {
                    write_each!(rows, words, row => copy_bits(words, row));
                }
            }
        }
    }

    /// The row of the seat at this offset from the player to act: with several rows for a game they
    /// are in the order of the seats.
    #[inline(always)]
    fn row_of(
        &self,
        block: &[Word],
        observers: usize,
        observer: usize,
        lane: usize,
        game: usize,
    ) -> usize {
        if observers == 1 {
            return game;
        }
        let player = count(block[COUNTERS].0[lane], counter::PLAYER);
        game * observers + (usize::from(player) + observer) % self.sizes().players
    }

    #[inline(always)]
    fn expand<E: Element>(&self, words: &[u64], row: &mut [E], streams: bool) {
        if streams {
            self.isa.expand_row::<E, true>(words, row);
        } else {
            self.isa.expand_row::<E, false>(words, row);
        }
    }
}

/// Fills the scratch as [`Kernel::fill_rows`] does, for any other encoder: it gets a view of each game
/// by itself.
#[inline(never)]
fn encode_views(
    sizes: Sizes,
    shared: &Shared,
    block: &[Word],
    step: usize,
    observer: usize,
    games: usize,
    scratch: &mut Scratch,
) {
    let stride = scratch.rows.len() / LANES;
    let mut words = vec![0; shared.layout.words()];
    // The other lanes of the last block are idle, and what they hold is no game.
    for lane in 0..games {
        let game = sizes.take(block, lane, step, &shared.variant, EpisodeSeed::default());
        let seat = shared.variant.seat_after(game.position.current_player(), observer);
        let view = View::new(&shared.variant, &game.position, seat);
        encode_into(shared.options.encoder, view, &mut words);
        for (index, &word) in words.iter().enumerate() {
            scratch.rows[lane * stride + index / LANES].0[index % LANES] = word;
        }
    }
}
