//! The packed rows of eight games, before they are written to a buffer.

use crate::batch::kernel::lanes::{LANES, QUARTET, Word};
use crate::buffers::expand::Bits;
use crate::encode::Layout;

/// The packed rows of a block: for each observer a run of words, each with 64 bits of eight games.
/// A run has at least one word more than a row, which [`Bits::word_at_bit`] may read.
#[derive(Clone, Debug)]
pub struct PackedRows {
    words: Vec<Word>,
    /// The length of a run.
    stride: usize,
}

impl PackedRows {
    pub fn new(layout: &Layout, observers: usize) -> PackedRows {
        let stride = (layout.words() + 1).next_multiple_of(QUARTET);
        let words = vec![Word::default(); observers * stride];
        PackedRows { words, stride }
    }

    /// Whether rows of `bits` bits fit, one for each observer.
    #[inline(always)]
    pub fn holds(&self, bits: usize, observers: usize) -> bool {
        self.stride > bits.div_ceil(64) && self.words.len() >= observers * self.stride
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
}

/// The row of one game.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    words: &'a [Word],
    lane: usize,
}

impl Bits for Row<'_> {
    #[inline(always)]
    unsafe fn word(self, index: usize) -> u64 {
        debug_assert!(index < self.words.len());
        // SAFETY: the index is at most the number of words in a row, and a run has one more.
        unsafe { self.words.get_unchecked(index) }.0[self.lane]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!([0, 1, 2, 3].map(|index| row.word(index)), [7, 107, 207, 307]);
            assert_eq!(row.word_at_bit(64 + 4), 107 >> 4 | 207 << 60);
        }
    }
}
