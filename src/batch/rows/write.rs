//! From blocks to the rows of an observation buffer and of an action mask.

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::packed_rows::PackedRows;
use crate::batch::config::BatchConfig;
use crate::batch::kernel::Kernel;
use crate::batch::kernel::block::{Block, Field, count, counter};
use crate::batch::kernel::lanes::{Isa, LANES, QUARTET, Word};
use crate::batch::outputs::ObservationBuffer;
use crate::buffers::expand::{Expand, expand, expand_words, prefetch};
use crate::buffers::{Element, WriteOnly, initialised};
use crate::encode::Encoder;

/// The default encoder. The compiler makes a copy of the code for it alone.
const DEFAULT: Encoder = Encoder::Canonical;

/// The rows that are written for each game.
#[derive(Clone, Copy)]
struct RowFormat {
    /// The length of a row in bits.
    bits: usize,
    encoder: Encoder,
    /// The number of rows for each game.
    observers: usize,
}

/// Writes the rows of the games of one block.
pub struct RowWriter<'a, I, const VARIANT: usize> {
    config: &'a BatchConfig,
    block: &'a Block<'a, I, VARIANT>,
    /// The games' indices in the buffer; they are in the first lanes of the block.
    games: Range<usize>,
    packed: &'a mut PackedRows,
    format: RowFormat,
}

impl<'a, I: Isa + Expand, const VARIANT: usize> RowWriter<'a, I, VARIANT> {
    #[inline(always)]
    pub fn new(
        config: &'a BatchConfig,
        block: &'a Block<'a, I, VARIANT>,
        games: Range<usize>,
        packed: &'a mut PackedRows,
    ) -> RowWriter<'a, I, VARIANT> {
        let format = RowFormat {
            bits: config.layout.len(),
            encoder: config.options.encoder,
            observers: config.num_observers(),
        };
        assert!(packed.holds(format.bits, format.observers));
        RowWriter { config, block, games, packed, format }
    }

    /// Writes the observations of the games.
    #[inline(always)]
    pub fn write(&mut self, obs: &mut ObservationBuffer<'_>) {
        if self.format.encoder == DEFAULT {
            let mut bits = self.format.bits;
            if Kernel::<I, VARIANT>::IS_BASE_GAME {
                // The same number, as a constant.
                bits = self.block.constants().observation_bits(DEFAULT);
                assert_eq!(bits, self.format.bits);
            }
            self.format = RowFormat { bits, encoder: DEFAULT, ..self.format };
            self.write_as::<true>(obs);
        } else {
            self.write_as::<false>(obs);
        }
    }

    #[inline(always)]
    fn write_as<const IS_DEFAULT: bool>(&mut self, obs: &mut ObservationBuffer<'_>) {
        self.encode::<IS_DEFAULT>();
        match obs {
            ObservationBuffer::Bits(rows) => self.write_packed(rows.lend().elements()),
            ObservationBuffer::Float32(rows) => self.write_elements(rows.lend().elements()),
            ObservationBuffer::Float16(rows) => self.write_elements(rows.lend().elements()),
            ObservationBuffer::Uint8(rows) => self.write_elements(rows.lend().elements()),
        }
    }

    /// Encodes the packed rows.
    #[inline(always)]
    fn encode<const IS_DEFAULT: bool>(&mut self) {
        if IS_DEFAULT {
            // Observer and encoder are constants here.
            self.block.encode(0, DEFAULT, self.packed.words_mut(0));
        }
        for observer in usize::from(IS_DEFAULT)..self.format.observers {
            self.block.encode(observer, self.format.encoder, self.packed.words_mut(observer));
        }
    }

    /// Expands the packed rows to elements.
    #[inline(always)]
    fn write_elements<E: Element>(&self, rows: &mut [MaybeUninit<E>]) {
        let RowFormat { bits, observers, .. } = self.format;
        let (mut lane, mut seat) = (0, 0);
        for row in self.games.start * observers..self.games.end * observers {
            // Without this the compiler keeps a pointer for every use of the index in the loop, and
            // advances each of them in memory.
            let row = black_box(row);
            let observer = self.observer_of(seat, lane);
            self.expand(observer, lane, &mut rows[row * bits..][..bits]);
            seat += 1;
            if seat == observers {
                (lane, seat) = (lane + 1, 0);
            }
        }
    }

    #[inline(always)]
    fn expand<E: Element>(&self, observer: usize, lane: usize, row: &mut [MaybeUninit<E>]) {
        if self.config.prefetches {
            prefetch(row);
        }
        let bits = self.packed.row(observer, lane);
        let (to, length) = (row.as_mut_ptr().cast(), row.len());
        let streams = self.config.streams && size_of::<E>() > 1;
        let isa = self.block.isa;
        // SAFETY: `to` is the whole row, of `format.bits` elements, and `new` has checked that the
        // packed rows have a word for each 64 of them.
        unsafe {
            if streams {
                expand::<I, E, true>(isa, bits, to, length);
            } else {
                expand::<I, E, false>(isa, bits, to, length);
            }
        }
    }

    /// Writes the packed rows as they are.
    #[inline(always)]
    fn write_packed(&self, rows: &mut [MaybeUninit<u8>]) {
        let observers = self.format.observers;
        if self.games.len() < LANES {
            return self.write_packed_rows(rows);
        }
        if observers == 1 {
            return self.write_packed_block(rows, self.packed.words(0), None);
        }
        for observer in 0..observers {
            let seats = std::array::from_fn(|lane| self.seat_of(observer, lane));
            self.write_packed_block(rows, self.packed.words(observer), Some(&seats));
        }
    }

    /// Writes packed rows one by one.
    #[inline(always)]
    fn write_packed_rows(&self, rows: &mut [MaybeUninit<u8>]) {
        let observers = self.format.observers;
        let length = 8 * self.format.bits.div_ceil(64);
        let rows = &mut rows[self.games.start * observers * length..];
        let (mut lane, mut seat) = (0, 0);
        for row in rows.chunks_exact_mut(length).take(self.games.len() * observers) {
            let words = self.packed.words(self.observer_of(seat, lane));
            for (to, word) in row.as_chunks_mut::<8>().0.iter_mut().zip(words) {
                *to = initialised(word.0[lane].to_le_bytes());
            }
            seat += 1;
            if seat == observers {
                (lane, seat) = (lane + 1, 0);
            }
        }
    }

    /// Writes one packed row for each of eight games by transposing their words: the only row of
    /// the game, or the one of this seat.
    #[inline(always)]
    fn write_packed_block(
        &self,
        rows: &mut [MaybeUninit<u8>],
        words: &[Word],
        seats: Option<&[usize; LANES]>,
    ) {
        let count = self.format.bits.div_ceil(64);
        let distance = 8 * count * if seats.is_some() { self.format.observers } else { 1 };
        let rows = &mut rows[self.games.start * distance..self.games.end * distance];
        assert!(rows.len() == LANES * distance);
        let full = count / QUARTET;
        for index in 0..full {
            self.transpose::<4>(words, index, count, seats, rows);
        }
        match count % QUARTET {
            1 => self.transpose::<1>(words, full, count, seats, rows),
            2 => self.transpose::<2>(words, full, count, seats, rows),
            3 => self.transpose::<3>(words, full, count, seats, rows),
            _ => {}
        }
    }

    /// Writes the first `COUNT` words of a quartet to the packed rows of eight games; a row has
    /// `count` words.
    #[inline(always)]
    fn transpose<const COUNT: usize>(
        &self,
        words: &[Word],
        index: usize,
        count: usize,
        seats: Option<&[usize; LANES]>,
        rows: &mut [MaybeUninit<u8>],
    ) {
        let words = self.block.isa.transpose(&words.as_chunks::<QUARTET>().0[index]);
        let distance = rows.len() / LANES;
        for (lane, words) in words.iter().enumerate() {
            let place = seats.map_or(0, |seats| 8 * count * seats[lane]);
            let start = lane * distance + place + 8 * QUARTET * index;
            let row = &mut rows[start..start + 8 * COUNT];
            for (to, word) in row.as_chunks_mut::<8>().0.iter_mut().zip(words) {
                *to = initialised(word.to_le_bytes());
            }
        }
    }

    /// Writes for each action whether it is legal.
    #[inline(always)]
    pub fn write_mask(&self, mask: &mut WriteOnly<'_, bool>) {
        let num_actions = self.block.constants().num_actions();
        let mask = mask.lend().elements();
        let rows = &mut mask[num_actions * self.games.start..num_actions * self.games.end];
        let isa = self.block.isa;
        let [low, high] =
            [Field::LowActions, Field::HighActions].map(|field| self.block.word(field));
        if self.games.len() == LANES && num_actions <= 64 {
            return expand_words(isa, &join(&low.0, num_actions), rows);
        }
        for (lane, row) in rows.chunks_exact_mut(num_actions).enumerate() {
            expand_words(isa, &[low.0[lane], high.0[lane]], row);
        }
    }

    /// The observer of a seat's row, as an offset from the acting player.
    #[inline(always)]
    fn observer_of(&self, seat: usize, lane: usize) -> usize {
        if self.format.observers == 1 {
            return 0;
        }
        let players = self.block.constants().players;
        (seat + players - self.acting_player(lane)) % players
    }

    /// The seat of an observer, whose place its row has among the rows of the game.
    #[inline(always)]
    fn seat_of(&self, observer: usize, lane: usize) -> usize {
        if self.format.observers == 1 {
            return 0;
        }
        (observer + self.acting_player(lane)) % self.block.constants().players
    }

    #[inline(always)]
    fn acting_player(&self, lane: usize) -> usize {
        count(self.block.word(Field::Counters).0[lane], counter::PLAYER).into()
    }
}

/// Joins the low `width` bits of each word, at most 64, without gaps; the higher bits are zero.
#[inline(always)]
fn join(words: &[u64; LANES], width: usize) -> [u64; LANES] {
    let mut joined = [0; LANES];
    for (lane, &word) in words.iter().enumerate() {
        let (index, shift) = (lane * width / 64, lane * width % 64);
        joined[index] |= word << shift;
        if shift + width > 64 {
            joined[index + 1] |= word >> (64 - shift);
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined_bit_by_bit() {
        let words: [u64; LANES] = std::array::from_fn(|lane| {
            0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(lane as u64 + 1).rotate_left(lane as u32)
        });
        for width in 1..=64 {
            let words = words.map(|word| word >> (64 - width));
            let joined = join(&words, width);
            for at in 0..LANES * 64 {
                let expected = at < LANES * width && words[at / width] >> (at % width) & 1 == 1;
                assert_eq!(joined[at / 64] >> (at % 64) & 1 == 1, expected, "{width}: {at}");
            }
        }
    }
}
