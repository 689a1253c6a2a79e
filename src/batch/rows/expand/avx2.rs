//! AVX2: a word is spread over the lanes, and each lane becomes all ones or zeros by its own bit.

use std::arch::x86_64::*;

use super::{Bits, Element, Lanes, expand_with};

struct Avx2;

/// Writes one element for each of the first `length` bits; `STREAM` goes past the caches, for more
/// output than they hold, and wants a `fence` after it.
///
/// # Safety
/// The processor has AVX2, and the calling function is compiled for it; `row` is valid to write for
/// `length` elements; the bits have a word for each 64 of them.
#[inline(always)]
pub unsafe fn expand<E: Element, const STREAM: bool>(bits: impl Bits, row: *mut E, length: usize) {
    // SAFETY: as the caller promises.
    unsafe { expand_with::<Avx2, E, STREAM>(bits, row, length) }
}

/// How far each of 32 bits is from the highest.
static TO_TOP: [u32; 32] = {
    let mut shifts = [0; 32];
    let mut bit = 0;
    while bit < 32 {
        shifts[bit] = 31 - bit as u32;
        bit += 1;
    }
    shifts
};

/// In each lane its own bit, of 16 in 16-bit lanes.
static BITS_16: [u16; 16] = {
    let mut bits = [0; 16];
    let mut bit = 0;
    while bit < 16 {
        bits[bit] = 1 << bit;
        bit += 1;
    }
    bits
};

/// The 32 bytes of elements of this index, of all those that a word in each 64-bit lane makes.
///
/// # Safety
/// The processor has AVX2; a word has so many.
#[inline(always)]
unsafe fn vector<E: Element>(word: __m256i, index: usize) -> __m256i {
    // SAFETY: the processor has AVX2, and the loads are of 32 bytes inside the tables.
    unsafe {
        match size_of::<E>() {
            4 => {
                // Each lane moves its own bit to the top, and fills itself with it.
                let half = match index / 4 {
                    0 => _mm256_shuffle_epi32::<0b00_00_00_00>(word),
                    _ => _mm256_shuffle_epi32::<0b01_01_01_01>(word),
                };
                let to_top = _mm256_loadu_si256(TO_TOP.as_ptr().add(8 * (index % 4)).cast());
                let set = _mm256_srai_epi32::<31>(_mm256_sllv_epi32(half, to_top));
                _mm256_and_si256(set, _mm256_set1_epi32(E::ONE as i32))
            }
            2 => {
                let quarter = _mm256_set1_epi16(0x0100 + 0x0202 * index as i16);
                let bits = _mm256_loadu_si256(BITS_16.as_ptr().cast());
                let own = _mm256_and_si256(_mm256_shuffle_epi8(word, quarter), bits);
                let set = _mm256_cmpeq_epi16(own, bits);
                _mm256_and_si256(set, _mm256_set1_epi16(E::ONE as i16))
            }
            _ => {
                let byte = 0x0101_0101_0101_0101;
                let bytes = _mm256_setr_epi64x(0, byte, 2 * byte, 3 * byte);
                let bytes = _mm256_add_epi8(bytes, _mm256_set1_epi8(4 * index as i8));
                let bits = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
                let own = _mm256_and_si256(_mm256_shuffle_epi8(word, bytes), bits);
                let set = _mm256_cmpeq_epi8(own, bits);
                _mm256_and_si256(set, _mm256_set1_epi8(E::ONE as i8))
            }
        }
    }
}

/// A vector that begins with the last `SIZE` bytes of so many elements.
///
/// # Safety
/// The processor has AVX2; there are that many bytes.
#[inline(always)]
unsafe fn last<E: Element, const SIZE: usize>(bits: u64, length: usize) -> __m256i {
    // SAFETY: as the caller promises.
    unsafe { vector::<E>(Avx2::ready(bits >> (length - SIZE / size_of::<E>())), 0) }
}

impl Lanes for Avx2 {
    const ALIGNED_FROM: Option<usize> = None;

    type Bits = __m256i;

    #[inline(always)]
    unsafe fn ready(bits: u64) -> __m256i {
        // SAFETY: as the caller promises.
        unsafe { _mm256_set1_epi64x(bits as i64) }
    }

    #[inline(always)]
    unsafe fn block<E: Element, const STREAM: bool>(bits: __m256i, index: usize, block: *mut E) {
        let block = block.cast::<__m256i>();
        // SAFETY: as the caller promises, which for `STREAM` is an aligned block.
        unsafe {
            for half in 0..2 {
                let elements = vector::<E>(bits, 2 * index + half);
                if STREAM {
                    _mm256_stream_si256(block.add(half), elements);
                } else {
                    _mm256_storeu_si256(block.add(half), elements);
                }
            }
        }
    }

    /// Two stores of the same size that may overlap: one for the first elements, one for the last.
    #[inline(always)]
    unsafe fn few<E: Element>(bits: u64, row: *mut E, length: usize) {
        let bytes = length * size_of::<E>();
        let row = row.cast::<u8>();
        // SAFETY: no store is of more bytes than there are; the second ends with the last.
        unsafe {
            let first = vector::<E>(Self::ready(bits), 0);
            match bytes {
                32.. => {
                    _mm256_storeu_si256(row.cast(), first);
                    _mm256_storeu_si256(row.add(bytes - 32).cast(), last::<E, 32>(bits, length));
                }
                16.. => {
                    _mm_storeu_si128(row.cast(), _mm256_castsi256_si128(first));
                    _mm_storeu_si128(
                        row.add(bytes - 16).cast(),
                        _mm256_castsi256_si128(last::<E, 16>(bits, length)),
                    );
                }
                8.. => {
                    _mm_storeu_si64(row, _mm256_castsi256_si128(first));
                    _mm_storeu_si64(
                        row.add(bytes - 8),
                        _mm256_castsi256_si128(last::<E, 8>(bits, length)),
                    );
                }
                4.. => {
                    _mm_storeu_si32(row, _mm256_castsi256_si128(first));
                    _mm_storeu_si32(
                        row.add(bytes - 4),
                        _mm256_castsi256_si128(last::<E, 4>(bits, length)),
                    );
                }
                2.. => {
                    _mm_storeu_si16(row, _mm256_castsi256_si128(first));
                    _mm_storeu_si16(
                        row.add(bytes - 2),
                        _mm256_castsi256_si128(last::<E, 2>(bits, length)),
                    );
                }
                1 => row.write(_mm256_extract_epi8::<0>(first) as u8),
                0 => {}
            }
        }
    }
}
