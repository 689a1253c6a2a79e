//! From the words of a block to the rows of an observation buffer.

use std::ops::Range;

use super::block::{COUNTERS, count, counter};
use super::buffers::ObservationBuffer;
use super::expand::{Element, copy_bits, prefetch};
use super::kernel::Kernel;
use super::lanes::{Isa, LANES, QUARTET, Word};
use super::plan::Sizes;
use super::shared::Shared;
use crate::encode::{CanonicalKnowledge, Layout, encode_into};
use crate::rules::{EpisodeSeed, View};

/// What the usual encoder says of hints.
const USUAL: CanonicalKnowledge = CanonicalKnowledge::Hinted;

/// A thread's own memory.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    /// The observations of one seat of eight games, a word of each game after another.
    words: Vec<Word>,
    /// Those of all seats that observe: for each seat a game after another.
    rows: Vec<Word>,
}

impl Scratch {
    pub fn new(layout: &Layout, observers: usize) -> Scratch {
        let length = layout.words().next_multiple_of(LANES);
        Scratch {
            words: vec![Word::default(); length],
            rows: vec![Word::default(); observers * length],
        }
    }

    /// The rows of eight games, of so many bits each.
    #[inline(always)]
    fn rows(&self, bits: usize) -> GameRows<'_> {
        GameRows { rows: &self.rows, bits }
    }

    /// Turns the words of eight games into this observer's rows of each.
    #[inline(always)]
    fn transpose<I: Isa>(&mut self, isa: I, observer: usize, bits: usize) {
        let stride = stride(bits);
        let words = &self.words[..LANES * stride];
        let rows = &mut self.rows[observer * LANES * stride..][..LANES * stride];
        let quartets = words.as_chunks::<QUARTET>().0.iter().take(bits.div_ceil(64 * QUARTET));
        for (index, words) in quartets.enumerate() {
            for (lane, row) in isa.transpose(words).into_iter().enumerate() {
                let Word(to) = &mut rows[lane * stride + index * QUARTET / LANES];
                to.as_chunks_mut().0[index % (LANES / QUARTET)] = row;
            }
        }
    }
}

/// How many [`Word`]s a game's row of so many bits takes.
#[inline(always)]
const fn stride(bits: usize) -> usize {
    bits.div_ceil(64 * LANES)
}

/// The rows of eight games for each observer, one after another.
#[derive(Clone, Copy)]
struct GameRows<'a> {
    rows: &'a [Word],
    /// Of each row.
    bits: usize,
}

impl<'a> GameRows<'a> {
    /// An observer's row of a game.
    #[inline(always)]
    fn row(self, observer: usize, lane: usize) -> &'a [u64] {
        let stride = stride(self.bits);
        let row = &self.rows[(observer * LANES + lane) * stride..][..stride];
        // SAFETY: a `Word` is eight `u64`s in a row (`repr(C)`), without padding.
        unsafe { std::slice::from_raw_parts(row.as_ptr().cast(), row.len() * LANES) }
    }
}

impl<I: Isa, const STANDARD: usize> Kernel<'_, I, STANDARD> {
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
        let observers = shared.observers();
        if let (ObservationBuffer::Bits(rows), Some(knowledge)) = (&mut *obs, shared.canonical)
            && observers == 1
            && games.len() == LANES
        {
            return self.write_packed(shared, block, step, games, knowledge, rows, scratch);
        }
        // Of a base game the compiler knows how long the usual rows are.
        if Self::IS_BASE_GAME && shared.canonical == Some(USUAL) {
            let bits = self.sizes().observation_bits();
            debug_assert_eq!(bits, shared.layout.len());
            self.encode(block, step, 0, USUAL, &mut scratch.words);
            scratch.transpose(self.isa, 0, bits);
            for observer in 1..observers {
                self.encode(block, step, observer, USUAL, &mut scratch.words);
                scratch.transpose(self.isa, observer, bits);
            }
            self.write_each(shared, block, games, obs, scratch.rows(bits));
        } else {
            let bits = shared.layout.len();
            for observer in 0..observers {
                if let Some(knowledge) = shared.canonical {
                    if !Self::IS_BASE_GAME && (observer, knowledge) == (0, USUAL) {
                        self.encode(block, step, 0, USUAL, &mut scratch.words);
                    } else {
                        self.encode(block, step, observer, knowledge, &mut scratch.words);
                    }
                    scratch.transpose(self.isa, observer, bits);
                } else {
                    encode_views(self.sizes(), shared, block, step, observer, games.len(), scratch);
                }
            }
            self.write_each(shared, block, games, obs, scratch.rows(bits));
        }
    }

    /// Writes one packed row for each of eight games, straight from the words of all.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "what is written, and what about")]
    fn write_packed(
        &self,
        shared: &Shared,
        block: &[Word],
        step: usize,
        games: &Range<usize>,
        knowledge: CanonicalKnowledge,
        rows: &mut [u8],
        scratch: &mut Scratch,
    ) {
        let words = &mut scratch.words;
        if Self::IS_BASE_GAME && knowledge == USUAL {
            self.encode(block, step, 0, USUAL, words);
            self.put_rows(words, self.sizes().observation_bits().div_ceil(64), games, rows);
        } else {
            self.encode(block, step, 0, knowledge, words);
            self.put_rows(words, shared.layout.words(), games, rows);
        }
    }

    /// Writes the rows of eight games, of so many words each.
    #[inline(always)]
    fn put_rows(&self, words: &[Word], count: usize, games: &Range<usize>, rows: &mut [u8]) {
        let length = 8 * count;
        let rows = &mut rows[games.start * length..games.end * length];
        assert!(rows.len() == LANES * length);
        let full = count / QUARTET;
        for index in 0..full {
            self.put_words::<4>(words, index, length, rows);
        }
        match count % QUARTET {
            1 => self.put_words::<1>(words, full, length, rows),
            2 => self.put_words::<2>(words, full, length, rows),
            3 => self.put_words::<3>(words, full, length, rows),
            _ => {}
        }
    }

    /// Writes the first words of a quartet to the rows, of so many bytes each, of eight games.
    #[inline(always)]
    fn put_words<const COUNT: usize>(
        &self,
        words: &[Word],
        index: usize,
        length: usize,
        rows: &mut [u8],
    ) {
        let words = self.isa.transpose(&words.as_chunks::<QUARTET>().0[index]);
        for (lane, words) in words.iter().enumerate() {
            let start = lane * length + 8 * QUARTET * index;
            let row = &mut rows[start..start + 8 * COUNT];
            for (to, word) in row.as_chunks_mut::<8>().0.iter_mut().zip(words) {
                *to = word.to_le_bytes();
            }
        }
    }

    /// Writes the rows of each game, in the order in which they lie in memory.
    #[inline(always)]
    fn write_each(
        &self,
        shared: &Shared,
        block: &[Word],
        games: &Range<usize>,
        obs: &mut ObservationBuffer<'_>,
        from: GameRows<'_>,
    ) {
        let (observers, bits) = (shared.observers(), from.bits);
        // Once for each kind of buffer, and not a closure: see `Kernel`.
        macro_rules! write_each {
            ($rows:ident, $length:expr, $words:ident, $row:ident => $write:expr) => {
                let (mut lane, mut place) = (0, 0);
                for row in games.start * observers..games.end * observers {
                    let observer = self.observer_at(block, observers, place, lane);
                    let start = row * $length;
                    let ($words, $row) = (from.row(observer, lane), &mut $rows[start..][..$length]);
                    $write;
                    place += 1;
                    if place == observers {
                        (lane, place) = (lane + 1, 0);
                    }
                }
            };
        }
        match obs {
            ObservationBuffer::Float32(rows) => {
                write_each!(rows, bits, words, row => self.expand(shared, words, row));
            }
            ObservationBuffer::Float16(rows) => {
                write_each!(rows, bits, words, row => self.expand(shared, words, row));
            }
            ObservationBuffer::Uint8(rows) => {
                write_each!(rows, bits, words, row => self.expand(shared, words, row));
            }
            ObservationBuffer::Bits(rows) => {
                let bytes = 8 * bits.div_ceil(64);
                write_each!(rows, bytes, words, row => copy_bits(words, row));
            }
        }
    }

    /// Who observes a game's row at this place, as an offset from the player to act: with several
    /// rows for a game they are in the order of the seats.
    #[inline(always)]
    fn observer_at(&self, block: &[Word], observers: usize, place: usize, lane: usize) -> usize {
        if observers == 1 {
            return 0;
        }
        let players = self.sizes().players;
        let player = count(block[COUNTERS].0[lane], counter::PLAYER);
        (place + players - usize::from(player)) % players
    }

    #[inline(always)]
    fn expand<E: Element>(&self, shared: &Shared, words: &[u64], row: &mut [E]) {
        if shared.prefetches {
            prefetch(row);
        }
        if shared.streams && size_of::<E>() > 1 {
            self.isa.expand_row::<E, true>(words, row);
        } else {
            self.isa.expand_row::<E, false>(words, row);
        }
    }
}

/// Fills the scratch for an encoder that is none of the kernel's: it gets a view of each game by
/// itself.
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
    let stride = stride(shared.layout.len());
    let mut words = vec![0; shared.layout.words()];
    // The other lanes of the last block are idle, and what they hold is no game.
    for lane in 0..games {
        let game = sizes.take(block, lane, step, &shared.variant, EpisodeSeed::default());
        let seat = shared.variant.seat_after(game.position.current_player(), observer);
        let view = View::new(&shared.variant, &game.position, seat);
        encode_into(shared.options.encoder, view, &mut words);
        for (index, &word) in words.iter().enumerate() {
            scratch.rows[(observer * LANES + lane) * stride + index / LANES].0[index % LANES] =
                word;
        }
    }
}
