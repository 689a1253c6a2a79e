use std::arch::x86_64::*;
use std::ops::{Add, BitAnd, BitOr, BitXor, Not, Sub};

use super::{Isa, LANES, Lanes, Mask, Word};
use crate::batch::expand::{Element, avx512};
use crate::batch::simd::Simd;

/// AVX-512 F, BW, DQ and VL: all eight lanes in one register.
#[derive(Clone, Copy, Debug)]
pub(in crate::batch) struct Avx512(());

#[derive(Clone, Copy)]
pub(in crate::batch) struct Avx512Lanes(__m512i);

#[derive(Clone, Copy)]
pub(in crate::batch) struct Avx512Mask(__mmask8);

impl Avx512 {
    pub fn new() -> Option<Avx512> {
        Simd::Avx512.is_available().then_some(Avx512(()))
    }
}

impl Isa for Avx512 {
    type Lanes = Avx512Lanes;

    #[inline(always)]
    fn splat(self, number: u64) -> Avx512Lanes {
        // SAFETY: the token says that the processor has the instructions.
        Avx512Lanes(unsafe { _mm512_set1_epi64(number as i64) })
    }

    #[inline(always)]
    fn load(self, word: &Word) -> Avx512Lanes {
        // SAFETY: the token says that the processor has the instructions; a word is aligned to 64
        // bytes and as long as a register.
        Avx512Lanes(unsafe { _mm512_load_si512(word.0.as_ptr().cast()) })
    }

    #[inline(always)]
    fn nth_set_bit(self, word: u64, n: u64) -> u32 {
        // SAFETY: the token says that the processor has the instructions.
        unsafe { _pdep_u64(1 << n, word) }.trailing_zeros()
    }

    #[inline(always)]
    fn look_up<const SIZE: usize>(self, table: &[u64; SIZE], indices: Avx512Lanes) -> Avx512Lanes {
        const { assert!(SIZE.is_power_of_two()) }
        let mut word = Word::default();
        indices.store(&mut word);
        let [a, b, c, d, e, f, g, h] = super::entries(table, &word);
        // SAFETY: the token says that the processor has the instructions.
        Avx512Lanes(unsafe { _mm512_set_epi64(h, g, f, e, d, c, b, a) })
    }

    #[inline(always)]
    unsafe fn expand<E: Element, const STREAM: bool>(
        self,
        words: &[u64],
        row: *mut E,
        length: usize,
    ) {
        // SAFETY: the token says that the processor has the instructions; the rest the caller promises.
        unsafe { avx512::expand::<E, STREAM>(words, row, length) }
    }

    #[inline(always)]
    fn transpose(self, words: &[Word; LANES]) -> [Avx512Lanes; LANES] {
        let mut rows = [self.zero(); LANES];
        // SAFETY: the token says that the processor has the instructions.
        unsafe {
            // Pairs of words, then quarters of registers, then halves.
            let mut pairs = [[self.zero().0; 4]; 2];
            for pair in 0..4 {
                let a = self.load(&words[2 * pair]).0;
                let b = self.load(&words[2 * pair + 1]).0;
                pairs[0][pair] = _mm512_unpacklo_epi64(a, b);
                pairs[1][pair] = _mm512_unpackhi_epi64(a, b);
            }
            for odd in 0..2 {
                let [a, b, c, d] = pairs[odd];
                let (ab_even, ab_odd) =
                    (_mm512_shuffle_i64x2::<0x88>(a, b), _mm512_shuffle_i64x2::<0xdd>(a, b));
                let (cd_even, cd_odd) =
                    (_mm512_shuffle_i64x2::<0x88>(c, d), _mm512_shuffle_i64x2::<0xdd>(c, d));
                rows[odd].0 = _mm512_shuffle_i64x2::<0x88>(ab_even, cd_even);
                rows[odd + 4].0 = _mm512_shuffle_i64x2::<0xdd>(ab_even, cd_even);
                rows[odd + 2].0 = _mm512_shuffle_i64x2::<0x88>(ab_odd, cd_odd);
                rows[odd + 6].0 = _mm512_shuffle_i64x2::<0xdd>(ab_odd, cd_odd);
            }
        }
        rows
    }
}

macro_rules! operator {
    ($trait:ident, $name:ident, $intrinsic:ident) => {
        impl $trait for Avx512Lanes {
            type Output = Self;

            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                // SAFETY: lanes exist only where an `Avx512` does, and so the instructions.
                Avx512Lanes(unsafe { $intrinsic(self.0, other.0) })
            }
        }
    };
}

operator!(BitAnd, bitand, _mm512_and_si512);
operator!(BitOr, bitor, _mm512_or_si512);
operator!(BitXor, bitxor, _mm512_xor_si512);
operator!(Add, add, _mm512_add_epi64);
operator!(Sub, sub, _mm512_sub_epi64);

impl Not for Avx512Lanes {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        // SAFETY: lanes exist only where the instructions do.
        Avx512Lanes(unsafe { _mm512_xor_si512(self.0, _mm512_set1_epi64(-1)) })
    }
}

impl BitAnd for Avx512Mask {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Avx512Mask(self.0 & other.0)
    }
}

impl BitOr for Avx512Mask {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Avx512Mask(self.0 | other.0)
    }
}

impl Not for Avx512Mask {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Avx512Mask(!self.0)
    }
}

impl Mask for Avx512Mask {
    #[inline(always)]
    fn bits(self) -> u8 {
        self.0
    }
}

impl Lanes for Avx512Lanes {
    type Mask = Avx512Mask;

    #[inline(always)]
    fn store(self, word: &mut Word) {
        // SAFETY: lanes exist only where the instructions do; a word is aligned to 64 bytes and as
        // long as a register.
        unsafe { _mm512_store_si512(word.0.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn shl(self, count: usize) -> Self {
        // SAFETY: lanes exist only where the instructions do.
        Avx512Lanes(unsafe { _mm512_sll_epi64(self.0, _mm_cvtsi64_si128(count as i64)) })
    }

    #[inline(always)]
    fn shr(self, count: usize) -> Self {
        // SAFETY: lanes exist only where the instructions do.
        Avx512Lanes(unsafe { _mm512_srl_epi64(self.0, _mm_cvtsi64_si128(count as i64)) })
    }

    #[inline(always)]
    fn shl_each(self, counts: Self) -> Self {
        // SAFETY: lanes exist only where the instructions do.
        Avx512Lanes(unsafe { _mm512_sllv_epi64(self.0, counts.0) })
    }

    #[inline(always)]
    fn shr_each(self, counts: Self) -> Self {
        // SAFETY: lanes exist only where the instructions do.
        Avx512Lanes(unsafe { _mm512_srlv_epi64(self.0, counts.0) })
    }

    #[inline(always)]
    fn mul_halves(self, other: Self) -> Self {
        // SAFETY: lanes exist only where the instructions do.
        Avx512Lanes(unsafe { _mm512_mul_epu32(self.0, other.0) })
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: lanes exist only where the instructions do.
        Avx512Lanes(unsafe { _mm512_mullo_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn shares(self, other: Self) -> Avx512Mask {
        // SAFETY: lanes exist only where the instructions do.
        Avx512Mask(unsafe { _mm512_test_epi64_mask(self.0, other.0) })
    }

    #[inline(always)]
    fn equals(self, other: Self) -> Avx512Mask {
        // SAFETY: lanes exist only where the instructions do.
        Avx512Mask(unsafe { _mm512_cmpeq_epi64_mask(self.0, other.0) })
    }

    #[inline(always)]
    fn keep(self, mask: Avx512Mask) -> Self {
        // SAFETY: lanes exist only where the instructions do.
        Avx512Lanes(unsafe { _mm512_maskz_mov_epi64(mask.0, self.0) })
    }

    #[inline(always)]
    fn or_else(self, mask: Avx512Mask, other: Self) -> Self {
        // SAFETY: lanes exist only where the instructions do.
        Avx512Lanes(unsafe { _mm512_mask_mov_epi64(other.0, mask.0, self.0) })
    }
}
