//! Writes an observation bit by bit.

/// Appends fields to a row of words, the first bit lowest. [`BitWriter::finish`] writes the rest.
#[derive(Debug)]
pub struct BitWriter<'a> {
    words: &'a mut [u64],
    word: usize,
    /// Bits that do not fill a word yet, and their number, below 64.
    pending: u64,
    width: usize,
}

impl<'a> BitWriter<'a> {
    /// A writer at the start of the words, whose old contents do not matter.
    pub fn new(words: &'a mut [u64]) -> BitWriter<'a> {
        BitWriter { words, word: 0, pending: 0, width: 0 }
    }

    /// Bits written so far.
    #[cfg(test)]
    pub const fn position(&self) -> usize {
        64 * self.word + self.width
    }

    /// Appends the `width` low bits of `value`, the lowest first.
    ///
    /// # Panics
    /// If `width` is above 64, the value has a higher bit, or the words are full.
    #[inline]
    pub fn push(&mut self, value: u64, width: usize) {
        assert!(width <= 64 && (width == 64 || value >> width == 0), "the value has more bits");
        self.pending |= value << self.width;
        let filled = self.width + width;
        if filled >= 64 {
            self.words[self.word] = self.pending;
            self.word += 1;
            self.pending = value >> 1 >> (63 - self.width);
        }
        self.width = filled % 64;
    }

    /// Appends a thermometer: `count` ones, then zeros.
    ///
    /// # Panics
    /// If `width` is above 64 or below `count`, or the words are full.
    #[inline]
    pub fn thermometer(&mut self, count: u8, width: usize) {
        assert!(usize::from(count) <= width, "the thermometer has more ones than bits");
        self.push(((1u128 << count) - 1) as u64, width);
    }

    /// Appends zeros.
    ///
    /// # Panics
    /// If the words are full.
    #[inline]
    pub fn skip(&mut self, width: usize) {
        let mut left = width;
        while left > 64 {
            self.push(0, 64);
            left -= 64;
        }
        self.push(0, left);
    }

    /// Writes the last bits and zeros to the end of the words.
    ///
    /// # Panics
    /// If the words are full.
    pub fn finish(self) {
        match self.words[self.word..].split_first_mut() {
            Some((last, rest)) => {
                *last = self.pending;
                rest.fill(0);
            }
            None => assert!(self.width == 0, "there are fewer words than bits"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::BitWriter;

    #[test]
    #[should_panic(expected = "fewer words than bits")]
    fn bits_that_fit_no_word_are_not_dropped() {
        let mut words = [0; 1];
        let mut bits = BitWriter::new(&mut words);
        bits.skip(65);
        bits.finish();
    }

    #[test]
    #[should_panic(expected = "more ones than bits")]
    fn a_thermometer_is_not_longer_than_its_field() {
        BitWriter::new(&mut [0; 2]).thermometer(128, 64);
    }

    #[test]
    fn fields_cross_word_borders() {
        let mut words = [9; 4];
        let mut bits = BitWriter::new(&mut words);
        bits.skip(60);
        bits.push(0b1_0001_1111, 9);
        bits.thermometer(64, 64);
        assert_eq!(bits.position(), 133);
        bits.finish();
        assert_eq!(words, [0xf << 60, 0b1_0001 | u64::MAX << 5, 0b1_1111, 0]);
    }
}
