//! The observations of eight games, before they become rows.

use super::expand::Bits;
use crate::batch::kernel::lanes::{LANES, QUARTET, Word};
use crate::encode::Layout;

/// The observations of the seats that observe: for each seat a word of all eight games after
/// another, with one before them for [`AlignedRow`].
#[derive(Clone, Debug)]
pub struct PackedRows {
    words: Vec<Word>,
    /// Words for each seat.
    stride: usize,
}

impl PackedRows {
    pub fn new(layout: &Layout, observers: usize) -> PackedRows {
        // One before them, one after them.
        let stride = 2 + layout.words().next_multiple_of(QUARTET);
        PackedRows { words: vec![Word::default(); observers * stride], stride }
    }

    /// The words of an observer.
    #[inline(always)]
    pub fn words(&self, observer: usize) -> &[Word] {
        &self.words[observer * self.stride..][..self.stride]
    }

    /// The words of an observer, to be written.
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

/// The row of one game. It begins with the second word.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    words: &'a [Word],
    lane: usize,
}

impl Row<'_> {
    /// # Safety
    /// The index is at most one past the words of the layout, counted from the first, which is no
    /// part of the row.
    #[inline(always)]
    unsafe fn at(self, index: usize) -> u64 {
        debug_assert!(index < self.words.len());
        // SAFETY: there are two words more than the layout has; checking it would cost AVX2 a tenth
        // of a row of bytes.
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

/// The row of one game that is written in aligned blocks. It begins with the first word, and from
/// the second on it is without its head, the bits that fill memory up to the first block: to shift
/// the words of eight games at once takes a fraction of what it takes to shift those of each.
#[derive(Clone, Copy)]
pub struct AlignedRow<'a>(pub Row<'a>);

impl Bits for AlignedRow<'_> {
    #[inline(always)]
    unsafe fn word(self, index: usize) -> u64 {
        debug_assert!(index == 0, "only the head is asked for");
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
    use super::*;
    use crate::encode::Layout;

    #[test]
    fn a_row_is_the_words_of_a_lane() {
        let layout = Layout::default().with_section("bits", &[130]);
        let mut encoded = PackedRows::new(&layout, 2);
        for (index, word) in encoded.words_mut(1).iter_mut().enumerate() {
            *word = Word(std::array::from_fn(|lane| (100 * index + lane) as u64));
        }
        let row = encoded.row(1, 7);
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
}
