//! From the words of a block to the rows of an observation buffer.

use std::hint::black_box;
use std::ops::Range;

use super::expand::{Element, head, prefetch};
use super::packed::{AlignedRow, PackedRows};
use crate::batch::config::BatchConfig;
use crate::batch::kernel::Kernel;
use crate::batch::kernel::block::{COUNTERS, count, counter};
use crate::batch::kernel::lanes::{Isa, LANES, QUARTET, Word};
use crate::batch::kernel::observe::Heads;
use crate::batch::kernel::plan::Sizes;
use crate::batch::outputs::ObservationBuffer;
use crate::encode::{CanonicalKnowledge, encode_into};
use crate::rules::{EpisodeSeed, View};

/// What the usual encoder says of hints.
const USUAL: CanonicalKnowledge = CanonicalKnowledge::Hinted;

/// What rows there are to write.
#[derive(Clone, Copy)]
pub struct RowFormat {
    /// Of each row.
    bits: usize,
    /// What a canonical encoder says of hints.
    knowledge: Option<CanonicalKnowledge>,
    /// Rows of each game.
    observers: usize,
}

impl RowFormat {
    /// Whether rows of elements of so many bytes are written in aligned blocks, from words that are
    /// shifted for it.
    #[inline(always)]
    fn aligns<I: Isa>(self, size: usize) -> bool {
        let Some(from) = I::ALIGNED_FROM else { return false };
        self.knowledge.is_some() && self.bits * size >= from
    }
}

impl<I: Isa, const STANDARD: usize> Kernel<'_, I, STANDARD> {
    /// Writes the rows of some games, which are in the block's first lanes.
    #[inline(always)]
    pub fn write_rows(
        &self,
        config: &BatchConfig,
        block: &[Word],
        step: usize,
        games: &Range<usize>,
        obs: &mut ObservationBuffer<'_>,
        encoded: &mut PackedRows,
    ) {
        let (length, observers) = (config.layout.len(), config.observers());
        if config.canonical == Some(USUAL) {
            // Of a base game the compiler knows how long these are.
            let bits = if Self::IS_BASE_GAME { self.sizes().observation_bits() } else { length };
            debug_assert_eq!(bits, length);
            let form = RowFormat { bits, knowledge: Some(USUAL), observers };
            self.write_form::<true>(form, config, block, step, games, obs, encoded);
        } else {
            let form = RowFormat { bits: length, knowledge: config.canonical, observers };
            self.write_form::<false>(form, config, block, step, games, obs, encoded);
        }
    }

    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "what is written, and what about")]
    fn write_form<const IS_USUAL: bool>(
        &self,
        form: RowFormat,
        config: &BatchConfig,
        block: &[Word],
        step: usize,
        games: &Range<usize>,
        obs: &mut ObservationBuffer<'_>,
        encoded: &mut PackedRows,
    ) {
        // Once for each kind of buffer, and not a closure: see `Kernel`.
        macro_rules! expand {
            ($rows:ident) => {{
                let (mut lane, mut place) = (0, 0);
                for row in games.start * form.observers..games.end * form.observers {
                    // Else the compiler keeps a place for each of what follows, and moves all on.
                    let row = black_box(row);
                    let observer = self.observer_at(form, block, place, lane);
                    let row = &mut $rows[row * form.bits..][..form.bits];
                    self.expand(form, config, encoded, observer, lane, row);
                    place += 1;
                    if place == form.observers {
                        (lane, place) = (lane + 1, 0);
                    }
                }
            }};
        }
        if let ObservationBuffer::Bits(rows) = obs {
            self.encode_rows::<IS_USUAL>(form, config, block, step, games, None, encoded);
            if games.len() < LANES {
                return self.put_rows(form, block, games, rows, encoded);
            }
            if form.observers == 1 {
                return self.put_block(form, games, rows, encoded.words(0), None);
            }
            for observer in 0..form.observers {
                let places = std::array::from_fn(|lane| self.place_of(form, block, observer, lane));
                self.put_block(form, games, rows, encoded.words(observer), Some(&places));
            }
            return;
        }
        let place = Some(obs.place());
        self.encode_rows::<IS_USUAL>(form, config, block, step, games, place, encoded);
        match obs {
            ObservationBuffer::Bits(_) => {}
            ObservationBuffer::Float32(rows) => expand!(rows),
            ObservationBuffer::Float16(rows) => expand!(rows),
            ObservationBuffer::Uint8(rows) => expand!(rows),
        }
    }

    /// Writes the words of all rows; with heads if they go to elements, at this address and of so
    /// many bytes.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "what is written, and what about")]
    fn encode_rows<const IS_USUAL: bool>(
        &self,
        form: RowFormat,
        config: &BatchConfig,
        block: &[Word],
        step: usize,
        games: &Range<usize>,
        place: Option<(usize, usize)>,
        encoded: &mut PackedRows,
    ) {
        let Some(knowledge) = form.knowledge else {
            for observer in 0..form.observers {
                encode_views(self.sizes(), config, block, step, observer, games.len(), encoded);
            }
            return;
        };
        if IS_USUAL {
            // By itself: the compiler knows then what there is to write.
            let heads = self.find_heads(form, block, 0, games.start, place);
            self.encode(block, step, 0, USUAL, heads, encoded.words_mut(0));
        }
        for observer in usize::from(IS_USUAL)..form.observers {
            let heads = self.find_heads(form, block, observer, games.start, place);
            self.encode(block, step, observer, knowledge, heads, encoded.words_mut(observer));
        }
    }

    /// How many elements an observer's rows of eight games have before the first aligned block, in a
    /// buffer at this address whose elements have so many bytes.
    #[inline(always)]
    fn find_heads(
        &self,
        form: RowFormat,
        block: &[Word],
        observer: usize,
        first: usize,
        place: Option<(usize, usize)>,
    ) -> Option<Heads<I::Lanes>> {
        if const { I::ALIGNED_FROM.is_none() } {
            return None;
        }
        let (address, size) = place?;
        let mut heads = Word::default();
        if form.aligns::<I>(size) {
            for lane in 0..LANES {
                let place = self.place_of(form, block, observer, lane);
                let row = (first + lane) * form.observers + place;
                heads.0[lane] = head(address.wrapping_add(row * form.bits * size), size) as u64;
            }
        }
        Some(self.heads(&heads))
    }

    #[inline(always)]
    fn expand<E: Element>(
        &self,
        form: RowFormat,
        config: &BatchConfig,
        encoded: &PackedRows,
        observer: usize,
        lane: usize,
        row: &mut [E],
    ) {
        if config.prefetches {
            prefetch(row);
        }
        let bits = encoded.row(observer, lane);
        let (to, length) = (row.as_mut_ptr(), row.len());
        let streams = config.streams && size_of::<E>() > 1;
        // SAFETY: the row is a whole slice, as long as the layout that the words were made for.
        unsafe {
            // A constant, so that there is no code for it where it is never so.
            if const { I::ALIGNED_FROM.is_some() } && form.aligns::<I>(size_of::<E>()) {
                let bits = AlignedRow(bits);
                return if streams {
                    self.isa.expand::<E, true>(bits, to, length)
                } else {
                    self.isa.expand::<E, false>(bits, to, length)
                };
            }
            if streams {
                self.isa.expand::<E, true>(bits, to, length)
            } else {
                self.isa.expand::<E, false>(bits, to, length)
            }
        }
    }

    /// Writes packed rows one by one.
    #[inline(always)]
    fn put_rows(
        &self,
        form: RowFormat,
        block: &[Word],
        games: &Range<usize>,
        rows: &mut [u8],
        encoded: &PackedRows,
    ) {
        let length = 8 * form.bits.div_ceil(64);
        let rows = &mut rows[games.start * form.observers * length..];
        let (mut lane, mut place) = (0, 0);
        for row in rows.chunks_exact_mut(length).take(games.len() * form.observers) {
            let words = &encoded.words(self.observer_at(form, block, place, lane))[1..];
            for (to, word) in row.as_chunks_mut::<8>().0.iter_mut().zip(words) {
                *to = word.0[lane].to_le_bytes();
            }
            place += 1;
            if place == form.observers {
                (lane, place) = (lane + 1, 0);
            }
        }
    }

    /// Writes one packed row for each of eight games, straight from the words of all. A game's row
    /// has a place among the rows of its seats, or is the only one.
    #[inline(always)]
    fn put_block(
        &self,
        form: RowFormat,
        games: &Range<usize>,
        rows: &mut [u8],
        words: &[Word],
        places: Option<&[usize; LANES]>,
    ) {
        let (words, count) = (&words[1..], form.bits.div_ceil(64));
        let distance = 8 * count * if places.is_some() { form.observers } else { 1 };
        let rows = &mut rows[games.start * distance..games.end * distance];
        assert!(rows.len() == LANES * distance);
        let full = count / QUARTET;
        for index in 0..full {
            self.put_words::<4>(words, index, count, places, rows);
        }
        match count % QUARTET {
            1 => self.put_words::<1>(words, full, count, places, rows),
            2 => self.put_words::<2>(words, full, count, places, rows),
            3 => self.put_words::<3>(words, full, count, places, rows),
            _ => {}
        }
    }

    /// Writes the first words of a quartet to the rows, of so many words each, of eight games.
    #[inline(always)]
    fn put_words<const COUNT: usize>(
        &self,
        words: &[Word],
        index: usize,
        count: usize,
        places: Option<&[usize; LANES]>,
        rows: &mut [u8],
    ) {
        let words = self.isa.transpose(&words.as_chunks::<QUARTET>().0[index]);
        let distance = rows.len() / LANES;
        for (lane, words) in words.iter().enumerate() {
            let place = places.map_or(0, |places| 8 * count * places[lane]);
            let start = lane * distance + place + 8 * QUARTET * index;
            let row = &mut rows[start..start + 8 * COUNT];
            for (to, word) in row.as_chunks_mut::<8>().0.iter_mut().zip(words) {
                *to = word.to_le_bytes();
            }
        }
    }

    /// Who observes a game's row at this place, as an offset from the player to act: with several
    /// rows for a game they are in the order of the seats.
    #[inline(always)]
    fn observer_at(&self, form: RowFormat, block: &[Word], place: usize, lane: usize) -> usize {
        if form.observers == 1 {
            return 0;
        }
        let players = self.sizes().players;
        let player = count(block[COUNTERS].0[lane], counter::PLAYER);
        (place + players - usize::from(player)) % players
    }

    /// Where the row of this observer is among a game's rows.
    #[inline(always)]
    fn place_of(&self, form: RowFormat, block: &[Word], observer: usize, lane: usize) -> usize {
        if form.observers == 1 {
            return 0;
        }
        let player = count(block[COUNTERS].0[lane], counter::PLAYER);
        (observer + usize::from(player)) % self.sizes().players
    }
}

/// Writes the words for an encoder that is none of the kernel's: it gets a view of each game by
/// itself.
#[inline(never)]
fn encode_views(
    sizes: Sizes,
    config: &BatchConfig,
    block: &[Word],
    step: usize,
    observer: usize,
    games: usize,
    encoded: &mut PackedRows,
) {
    let mut words = vec![0; config.layout.words()];
    // The other lanes of the last block are idle, and what they hold is no game.
    for lane in 0..games {
        let game = sizes.take(block, lane, step, &config.variant, EpisodeSeed::default());
        let seat = config.variant.seat_after(game.position.current_player(), observer);
        let view = View::new(&config.variant, &game.position, seat);
        encode_into(config.options.encoder, view, &mut words);
        for (to, &word) in encoded.words_mut(observer)[1..].iter_mut().zip(&words) {
            to.0[lane] = word;
        }
    }
}
