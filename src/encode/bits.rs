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
    #[must_use]
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
    #[inline]
    pub fn thermometer(&mut self, count: u8, width: usize) {
        self.push(((1u128 << count) - 1) as u64, width);
    }

    /// Appends zeros.
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
    pub fn finish(self) {
        if let Some((last, rest)) = self.words[self.word..].split_first_mut() {
            *last = self.pending;
            rest.fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::BitWriter;

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
