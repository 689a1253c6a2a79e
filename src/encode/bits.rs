/// Appends fields to a row of zeroed words, the first bit lowest.
#[derive(Debug)]
pub struct BitWriter<'a> {
    words: &'a mut [u64],
    position: usize,
}

impl<'a> BitWriter<'a> {
    /// A writer at the start of words that are all zero.
    pub fn new(words: &'a mut [u64]) -> BitWriter<'a> {
        BitWriter { words, position: 0 }
    }

    /// Bits written so far.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.position
    }

    /// Appends the `width` low bits of `value`, the lowest first; its higher bits must be zero.
    /// `width` is at most 64.
    #[inline]
    pub fn push(&mut self, value: u64, width: usize) {
        debug_assert!(width <= 64 && (width == 64 || value >> width == 0));
        let (word, shift) = (self.position / 64, self.position % 64);
        if value != 0 {
            self.words[word] |= value << shift;
            let carried = value >> 1 >> (63 - shift);
            if carried != 0 {
                self.words[word + 1] |= carried;
            }
        }
        self.position += width;
    }

    /// Appends a one-hot field, or zeros for `None`.
    #[inline]
    pub fn one_hot(&mut self, index: Option<usize>, width: usize) {
        self.push(index.map_or(0, |index| 1 << index), width);
    }

    /// Appends a thermometer: `count` ones, then zeros.
    #[inline]
    pub fn thermometer(&mut self, count: u8, width: usize) {
        self.push(((1u128 << count) - 1) as u64, width);
    }

    /// Appends zeros.
    #[inline]
    pub fn skip(&mut self, width: usize) {
        self.position += width;
    }
}

#[cfg(test)]
mod tests {
    use super::BitWriter;

    #[test]
    fn fields_cross_word_borders() {
        let mut words = [0; 3];
        let mut bits = BitWriter::new(&mut words);
        bits.skip(60);
        bits.push(0b1_0001_1111, 9);
        bits.thermometer(64, 64);
        assert_eq!(bits.position(), 133);
        assert_eq!(words, [0xf << 60, 0b1_0001 | u64::MAX << 5, 0b1_1111]);
    }
}
