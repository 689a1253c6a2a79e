//! AVX-512: the bits are the mask of a vector move.

use std::arch::x86_64::*;

use super::{Element, Expand, per_block};
use crate::buffers::Avx512;

/// The block of elements of the lowest bits.
#[inline(always)]
fn vector<E: Element>(_: Avx512, bits: u64) -> __m512i {
    // SAFETY: the token exists only if the processor has the instructions.
    unsafe {
        match size_of::<E>() {
            4 => _mm512_maskz_mov_epi32(bits as u16, _mm512_set1_epi32(E::ONE as i32)),
            2 => _mm512_maskz_mov_epi16(bits as u32, _mm512_set1_epi16(E::ONE as i16)),
            _ => _mm512_maskz_mov_epi8(bits, _mm512_set1_epi8(E::ONE as i8)),
        }
    }
}

impl Expand for Avx512 {
    type Bits = u64;

    #[inline(always)]
    fn prepare(self, bits: u64) -> u64 {
        bits
    }

    #[inline(always)]
    unsafe fn block<E: Element, const STREAM: bool>(self, bits: u64, index: usize, block: *mut E) {
        let block = block.cast::<__m512i>();
        // SAFETY: the token exists only if the processor has the instructions, and as the caller promises the
        // block is aligned if `STREAM` is set.
        unsafe {
            let elements = vector::<E>(self, bits >> (index * per_block::<E>()));
            if STREAM {
                _mm512_stream_si512(block, elements);
            } else {
                _mm512_storeu_si512(block, elements);
            }
        }
    }

    #[inline(always)]
    unsafe fn part<E: Element>(self, bits: u64, row: *mut E, length: usize) {
        // SAFETY: the token exists only if the processor has the instructions, and the mask selects the first
        // `length` elements.
        unsafe {
            let mask = _bzhi_u64(u64::MAX, length as u32);
            let elements = vector::<E>(self, bits);
            match size_of::<E>() {
                4 => _mm512_mask_storeu_epi32(row.cast(), mask as u16, elements),
                2 => _mm512_mask_storeu_epi16(row.cast(), mask as u32, elements),
                _ => _mm512_mask_storeu_epi8(row.cast(), mask, elements),
            }
        }
    }
}
