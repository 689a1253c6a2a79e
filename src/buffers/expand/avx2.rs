//! AVX2: the bits are copied to every lane, and each lane is set or cleared by one of them.

use std::arch::x86_64::*;

use super::{Element, Expand};
use crate::buffers::{Avx2, Portable};

/// The shift that moves each of 32 bits to the highest place.
static TO_TOP: [u32; 32] = {
    let mut shifts = [0; 32];
    let mut bit = 0;
    while bit < 32 {
        shifts[bit] = 31 - bit as u32;
        bit += 1;
    }
    shifts
};

/// The bit that belongs to each of 16 lanes.
static BITS_16: [u16; 16] = {
    let mut bits = [0; 16];
    let mut bit = 0;
    while bit < 16 {
        bits[bit] = 1 << bit;
        bit += 1;
    }
    bits
};

/// The `index`-th 32 bytes of the elements of a word, which is given in each 64-bit lane.
#[inline(always)]
fn vector<E: Element>(_: Avx2, word: __m256i, index: usize) -> __m256i {
    // SAFETY: the token exists only if the processor has the instructions, and each load of 32 bytes lies
    // inside its table.
    unsafe {
        match size_of::<E>() {
            4 => {
                // The bit of each lane is shifted to the sign and then copied to the whole lane.
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

impl Expand for Avx2 {
    type Bits = __m256i;

    #[inline(always)]
    fn prepare(self, bits: u64) -> __m256i {
        // SAFETY: the token exists only if the processor has the instructions.
        unsafe { _mm256_set1_epi64x(bits as i64) }
    }

    #[inline(always)]
    unsafe fn block<E: Element, const STREAM: bool>(
        self,
        bits: __m256i,
        index: usize,
        block: *mut E,
    ) {
        let block = block.cast::<__m256i>();
        // SAFETY: the token exists only if the processor has the instructions, and as the caller promises the
        // block is aligned if `STREAM` is set.
        unsafe {
            for half in 0..2 {
                let elements = vector::<E>(self, bits, 2 * index + half);
                if STREAM {
                    _mm256_stream_si256(block.add(half), elements);
                } else {
                    _mm256_storeu_si256(block.add(half), elements);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn part<E: Element>(self, bits: u64, row: *mut E, length: usize) {
        // SAFETY: as the caller promises.
        unsafe { Portable.part(bits, row, length) }
    }
}
