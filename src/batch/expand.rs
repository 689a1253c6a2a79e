//! Packed bits to one element for each bit.

use half::f16;

/// An element that stands for a bit.
pub(super) trait Element: Copy + 'static {
    /// Eight elements for each value of a byte, the lowest bit first.
    const OCTETS: &'static [[Self; 8]; 256];
}

macro_rules! element {
    ($type:ty, $zero:expr, $one:expr) => {
        impl Element for $type {
            const OCTETS: &'static [[$type; 8]; 256] = {
                static OCTETS: [[$type; 8]; 256] = {
                    let mut octets = [[$zero; 8]; 256];
                    let mut byte = 0;
                    while byte < 256 {
                        let mut bit = 0;
                        while bit < 8 {
                            if byte >> bit & 1 == 1 {
                                octets[byte][bit] = $one;
                            }
                            bit += 1;
                        }
                        byte += 1;
                    }
                    octets
                };
                &OCTETS
            };
        }
    };
}

element!(f32, 0.0, 1.0);
element!(f16, f16::ZERO, f16::ONE);
element!(u8, 0, 1);
element!(bool, false, true);

/// Writes one element for each of the first `row.len()` bits.
pub(super) fn expand<T: Element>(words: &[u64], row: &mut [T]) {
    for (word, elements) in words.iter().zip(row.chunks_mut(64)) {
        let bytes = word.to_le_bytes();
        for (byte, elements) in bytes.into_iter().zip(elements.chunks_mut(8)) {
            let octet = &T::OCTETS[usize::from(byte)];
            match elements.as_mut_array::<8>() {
                Some(elements) => *elements = *octet,
                None => elements.copy_from_slice(&octet[..elements.len()]),
            }
        }
    }
}

/// Writes the words as bytes, the lowest first.
pub(super) fn expand_bits(words: &[u64], row: &mut [u8]) {
    for (word, bytes) in words.iter().zip(row.chunks_exact_mut(8)) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_its_bit() {
        let words = [0x8000_0000_0123_4567, 0x1_ffff];
        for length in 0..=128 {
            let mut row = vec![9u8; length];
            expand(&words, &mut row);
            let bits = (0..length).map(|bit| (words[bit / 64] >> (bit % 64) & 1) as u8);
            assert!(row.into_iter().eq(bits));
        }
    }
}
