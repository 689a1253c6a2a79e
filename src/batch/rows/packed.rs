//! The packed rows of eight games, before they are written to a buffer.

use super::expand::Bits;
use crate::batch::kernel::lanes::{LANES, QUARTET, Word};
use crate::encode::Layout;

/// The packed rows of a block: for each observer a run of words, each with 64 bits of eight games.
///
/// A run has one word before the first, for [`AlignedRow`], and at least one after the last.
#[derive(Clone, Debug)]
pub struct PackedRows {
    words: Vec<Word>,
    /// The length of a run.
    stride: usize,
    /// The row of one game, for encoders that write one row at a time.
    row: Vec<u64>,
}

impl PackedRows {
    pub fn new(layout: &Layout, observers: usize) -> PackedRows {
        let stride = 2 + layout.words().next_multiple_of(QUARTET);
        let words = vec![Word::default(); observers * stride];
        PackedRows { words, stride, row: vec![0; layout.words()] }
    }

    /// Whether there is room for rows of so many bits for each observer.
    #[inline(always)]
    pub fn holds(&self, bits: usize, observers: usize) -> bool {
        self.stride >= 2 + bits.div_ceil(64) && self.words.len() >= observers * self.stride
    }

    /// The run of an observer.
    #[inline(always)]
    pub fn words(&self, observer: usize) -> &[Word] {
        &self.words[observer * self.stride..][..self.stride]
    }

    /// The run of an observer, to be written.
    #[inline(always)]
    pub fn words_mut(&mut self, observer: usize) -> &mut [Word] {
        &mut self.words[observer * self.stride..][..self.stride]
    }

    /// An observer's row of the game in a lane.
    #[inline(always)]
    pub fn row(&self, observer: usize, lane: usize) -> Row<'_> {
        Row { words: self.words(observer), lane: lane % LANES }
    }

    /// Writes an observer's row of the game in a lane; `fill` writes all its words.
    pub fn fill_row(&mut self, observer: usize, lane: usize, fill: impl FnOnce(&mut [u64])) {
        fill(&mut self.row);
        let run = &mut self.words[observer * self.stride..][1..];
        for (to, &word) in run.iter_mut().zip(&self.row) {
            to.0[lane] = word;
        }
    }
}

/// The row of one game. It begins with the second word of the run.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    words: &'a [Word],
    lane: usize,
}

impl Row<'_> {
    /// The bits of the word with this index in the run.
    ///
    /// # Safety
    /// The index is at most 1 + the number of words in a row.
    #[inline(always)]
    unsafe fn at(self, index: usize) -> u64 {
        debug_assert!(index < self.words.len());
        // SAFETY: a run has at least two words more than a row.
        unsafe { self.words.get_unchecked(index) }.0[self.lane]
    }
}

impl Bits for Row<'_> {
    #[inline(always)]
    unsafe fn word(self, index: usize) -> u64 {
        // SAFETY: as the caller promises.
        unsafe { self.at(1 + index) }
    }
}

/// The row of one game that is written in aligned blocks. The first word of the run has the head:
/// the bits before the first aligned block. The other words have the bits after the head: shifting
/// the words of eight games at once is cheaper than shifting each row when it is written.
#[derive(Clone, Copy)]
pub struct AlignedRow<'a>(pub Row<'a>);

impl Bits for AlignedRow<'_> {
    #[inline(always)]
    unsafe fn word(self, index: usize) -> u64 {
        debug_assert!(index == 0, "only the head is read from here");
        // SAFETY: as the caller promises.
        unsafe { self.0.at(index) }
    }

    #[inline(always)]
    unsafe fn word_after(self, _head: usize, index: usize) -> u64 {
        // SAFETY: as the caller promises.
        unsafe { self.0.at(1 + index) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::batch::kernel::block::{Block, block_words, clear_block};
    use crate::batch::kernel::lanes::Portable;
    use crate::batch::kernel::plan::Plan;
    use crate::batch::kernel::{ANY, Kernel};
    use crate::encode::{CANONICAL, CanonicalKnowledge, Encoder};
    use crate::rules::{EpisodeSeed, GameRng, Parameters, Variant};

    #[test]
    fn a_row_is_the_words_of_a_lane() {
        let layout = Layout::default().with_section("bits", &[130]);
        let mut packed = PackedRows::new(&layout, 2);
        for (index, word) in packed.words_mut(1).iter_mut().enumerate() {
            *word = Word(std::array::from_fn(|lane| (100 * index + lane) as u64));
        }
        let row = packed.row(1, 7);
        // SAFETY: the layout has three words.
        unsafe {
            assert_eq!([0, 1, 2, 3].map(|index| row.word(index)), [107, 207, 307, 407]);
            assert_eq!(row.from(64 + 4), 207 >> 4 | 307 << 60);
            assert_eq!(row.word_after(4, 1), row.from(64 + 4));
            assert_eq!(AlignedRow(row).word(0), 7);
            assert_eq!(
                [0, 1, 2].map(|index| AlignedRow(row).word_after(9, index)),
                [107, 207, 307]
            );
        }
    }

    #[test]
    fn aligned_rows_are_the_same_rows() {
        // 658 bits, whose last word is not full, and 1,280, whose last word is.
        for players in [2, 5] {
            let parameters = Parameters { players, ..Parameters::default() };
            let variant = Arc::new(Variant::new(parameters).unwrap());
            let plan = Plan::new(&variant);
            let kernel = Kernel::<_, ANY> { isa: Portable, plan: &plan };
            let mut words = vec![Word::default(); block_words(plan.sizes)];
            clear_block(&mut words);
            let mut block = Block::new(kernel, &mut words, 0);
            for lane in 0..LANES {
                let seed = EpisodeSeed { seed: 1, game: lane as u64, episode: 0 };
                block.deal(lane, GameRng::new(seed).state());
            }
            let layout = CANONICAL.layout(&variant);
            let [mut plain, mut aligned] = [(); 2].map(|()| PackedRows::new(&layout, 1));
            let hinted = CanonicalKnowledge::Hinted;
            block.encode(0, hinted, None, plain.words_mut(0));
            for first in (0..64).step_by(LANES) {
                let heads = Word(std::array::from_fn(|lane| (first + lane) as u64));
                block.encode(0, hinted, Some(block.heads(&heads)), aligned.words_mut(0));
                for lane in 0..LANES {
                    let (plain, aligned) = (plain.row(0, lane), AlignedRow(aligned.row(0, lane)));
                    let head = first + lane;
                    // SAFETY: the rows have a word for each 64 bits of the layout.
                    unsafe {
                        assert_eq!(aligned.word(0), plain.word(0), "a head of {head} bits");
                        for index in 0..layout.words() {
                            let left = (layout.len() - 64 * index).saturating_sub(head);
                            // Past the end both give any bits.
                            let past = 64 - left.min(64) as u32;
                            let [found, expected] =
                                [aligned.word_after(head, index), plain.word_after(head, index)]
                                    .map(|word| word.checked_shl(past));
                            assert_eq!(found, expected, "a head of {head} bits");
                        }
                    }
                }
            }
        }
    }
}
