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
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the one feature that the function needs.
        return unsafe { expand_avx2(words, row) };
    }
    expand_octets(words, row);
}

/// [`expand_octets`] compiled for AVX2, which copies eight floats at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn expand_avx2<T: Element>(words: &[u64], row: &mut [T]) {
    expand_octets(words, row);
}

#[inline(always)]
fn expand_octets<T: Element>(words: &[u64], row: &mut [T]) {
    let (octets, tail) = row.as_chunks_mut::<8>();
    let (blocks, rest) = octets.as_chunks_mut::<8>();
    for (word, block) in words.iter().zip(blocks.iter_mut()) {
        for (byte, octet) in word.to_le_bytes().into_iter().zip(block) {
            *octet = T::OCTETS[usize::from(byte)];
        }
    }
    let last = words.get(blocks.len()).map_or([0; 8], |word| word.to_le_bytes());
    for (byte, octet) in last.into_iter().zip(rest.iter_mut()) {
        *octet = T::OCTETS[usize::from(byte)];
    }
    if !tail.is_empty() {
        tail.copy_from_slice(&T::OCTETS[usize::from(last[rest.len()])][..tail.len()]);
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
