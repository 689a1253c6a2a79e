//! Lanes of AVX2.

use std::arch::x86_64::*;
use std::ops::{Add, BitAnd, BitOr, BitXor, Not, Sub};

use super::{Isa, LANES, Lanes, Mask, QUARTET, Table, Word};
use crate::buffers::{Avx2, Portable};

/// Lanes 0 to 3 in one register, lanes 4 to 7 in another.
#[derive(Clone, Copy)]
pub struct Avx2Lanes([__m256i; 2]);

/// All ones in the lanes of the set, zero in the others.
#[derive(Clone, Copy)]
pub struct Avx2Mask([__m256i; 2]);

/// Applies an intrinsic to both registers of its arguments.
macro_rules! halves {
    ($intrinsic:expr, $a:expr $(, $b:expr)?) => {{
        // SAFETY: lanes and masks of this type are only made from an `Avx2` token.
        unsafe { [$intrinsic($a[0] $(, $b[0])?), $intrinsic($a[1] $(, $b[1])?)] }
    }};
}

impl Isa for Avx2 {
    type Lanes = Avx2Lanes;

    #[inline(always)]
    fn splat(self, number: u64) -> Avx2Lanes {
        // SAFETY: the token exists only if the processor has the instructions.
        Avx2Lanes([unsafe { _mm256_set1_epi64x(number as i64) }; 2])
    }

    #[inline(always)]
    fn load(self, word: &Word) -> Avx2Lanes {
        let (start, _) = word.0.as_chunks::<4>();
        // SAFETY: the token exists only if the processor has the instructions; a word is aligned to
        // 64 bytes and as long as two registers.
        Avx2Lanes(unsafe {
            [
                _mm256_load_si256(start[0].as_ptr().cast()),
                _mm256_load_si256(start[1].as_ptr().cast()),
            ]
        })
    }

    #[inline(always)]
    fn nth_set_bit(self, word: u64, n: u64) -> u64 {
        if !self.has_fast_pdep() {
            return nth_set_bit_without_pdep(word, n);
        }
        // SAFETY: the token exists only if the processor has the instructions.
        unsafe { _pdep_u64(1 << n, word) }
    }

    #[inline(always)]
    fn look_up<const SIZE: usize>(
        self,
        table: &Table<SIZE>,
        _: usize,
        indices: Avx2Lanes,
    ) -> Avx2Lanes {
        let [a, b, c, d, e, f, g, h] = table.entries(indices);
        // SAFETY: the token exists only if the processor has the instructions.
        Avx2Lanes(unsafe { [_mm256_set_epi64x(d, c, b, a), _mm256_set_epi64x(h, g, f, e)] })
    }

    #[inline(always)]
    fn transpose(self, words: &[Word; QUARTET]) -> [[u64; QUARTET]; LANES] {
        let mut rows = [[0; QUARTET]; LANES];
        for half in 0..2 {
            let columns = quarter([
                self.load(&words[0]).0[half],
                self.load(&words[1]).0[half],
                self.load(&words[2]).0[half],
                self.load(&words[3]).0[half],
            ]);
            for (lane, column) in columns.into_iter().enumerate() {
                let row = rows[4 * half + lane].as_mut_ptr();
                // SAFETY: the token exists only if the processor has the instructions; a row is as
                // long as a register.
                unsafe { _mm256_storeu_si256(row.cast(), column) };
            }
        }
        rows
    }
}

/// As [`Isa::nth_set_bit`], on processors where `pdep` is slow. Not inlined, so that the other processors pay
/// for a comparison alone.
#[cold]
#[inline(never)]
fn nth_set_bit_without_pdep(word: u64, n: u64) -> u64 {
    Portable.nth_set_bit(word, n)
}

/// Transposes four registers of four words.
#[inline(always)]
fn quarter([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    // SAFETY: the registers come from lanes, which are only made from an `Avx2` token.
    unsafe {
        let (ab_even, ab_odd) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
        let (cd_even, cd_odd) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
        [
            _mm256_permute2x128_si256::<0x20>(ab_even, cd_even),
            _mm256_permute2x128_si256::<0x20>(ab_odd, cd_odd),
            _mm256_permute2x128_si256::<0x31>(ab_even, cd_even),
            _mm256_permute2x128_si256::<0x31>(ab_odd, cd_odd),
        ]
    }
}

macro_rules! operator {
    ($type:ident, $trait:ident, $name:ident, $intrinsic:ident) => {
        impl $trait for $type {
            type Output = Self;

            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                $type(halves!($intrinsic, self.0, other.0))
            }
        }
    };
}

operator!(Avx2Lanes, BitAnd, bitand, _mm256_and_si256);
operator!(Avx2Lanes, BitOr, bitor, _mm256_or_si256);
operator!(Avx2Lanes, BitXor, bitxor, _mm256_xor_si256);
operator!(Avx2Lanes, Add, add, _mm256_add_epi64);
operator!(Avx2Lanes, Sub, sub, _mm256_sub_epi64);
operator!(Avx2Mask, BitAnd, bitand, _mm256_and_si256);
operator!(Avx2Mask, BitOr, bitor, _mm256_or_si256);

macro_rules! negation {
    ($type:ident) => {
        impl Not for $type {
            type Output = Self;

            #[inline(always)]
            fn not(self) -> Self {
                // SAFETY: lanes and masks of this type are only made from an `Avx2` token.
                let ones = unsafe { _mm256_set1_epi64x(-1) };
                $type(halves!(_mm256_xor_si256, self.0, [ones; 2]))
            }
        }
    };
}

negation!(Avx2Lanes);
negation!(Avx2Mask);

impl Mask for Avx2Mask {
    #[inline(always)]
    fn bits(self) -> u8 {
        let halves = halves!(_mm256_castsi256_pd, self.0);
        let signs = halves!(_mm256_movemask_pd, halves);
        (signs[0] | signs[1] << 4) as u8
    }
}

impl Lanes for Avx2Lanes {
    type Mask = Avx2Mask;

    #[inline(always)]
    fn store(self, word: &mut Word) {
        let (start, _) = word.0.as_chunks_mut::<4>();
        // SAFETY: lanes are only made from an `Avx2` token; a word is aligned to 64 bytes and as
        // long as two registers.
        unsafe {
            _mm256_store_si256(start[0].as_mut_ptr().cast(), self.0[0]);
            _mm256_store_si256(start[1].as_mut_ptr().cast(), self.0[1]);
        }
    }

    #[inline(always)]
    fn narrow(self) -> [i32; LANES] {
        let mut low = [0; LANES];
        // SAFETY: lanes are only made from an `Avx2` token; the array is as long as a register.
        unsafe {
            let [first, second] = [_mm256_castsi256_ps(self.0[0]), _mm256_castsi256_ps(self.0[1])];
            let mixed = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(first, second));
            let in_order = _mm256_permute4x64_epi64::<0b11_01_10_00>(mixed);
            _mm256_storeu_si256(low.as_mut_ptr().cast(), in_order);
        }
        low
    }

    #[inline(always)]
    fn shl(self, count: usize) -> Self {
        // SAFETY: lanes are only made from an `Avx2` token.
        let count = unsafe { _mm_cvtsi64_si128(count as i64) };
        Avx2Lanes(halves!(_mm256_sll_epi64, self.0, [count; 2]))
    }

    #[inline(always)]
    fn shr(self, count: usize) -> Self {
        // SAFETY: lanes are only made from an `Avx2` token.
        let count = unsafe { _mm_cvtsi64_si128(count as i64) };
        Avx2Lanes(halves!(_mm256_srl_epi64, self.0, [count; 2]))
    }

    #[inline(always)]
    fn shl_each(self, counts: Self) -> Self {
        Avx2Lanes(halves!(_mm256_sllv_epi64, self.0, counts.0))
    }

    #[inline(always)]
    fn shr_each(self, counts: Self) -> Self {
        Avx2Lanes(halves!(_mm256_srlv_epi64, self.0, counts.0))
    }

    #[inline(always)]
    fn mul_halves(self, other: Self) -> Self {
        Avx2Lanes(halves!(_mm256_mul_epu32, self.0, other.0))
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // The product of the high halves does not reach the low 64 bits.
        let crossed = self.shr(32).mul_halves(other) + self.mul_halves(other.shr(32));
        self.mul_halves(other) + crossed.shl(32)
    }

    #[inline(always)]
    fn intersects(self, other: Self) -> Avx2Mask {
        // SAFETY: lanes are only made from an `Avx2` token.
        let zero = unsafe { _mm256_setzero_si256() };
        !Avx2Mask(halves!(_mm256_cmpeq_epi64, (self & other).0, [zero; 2]))
    }

    #[inline(always)]
    fn equals(self, other: Self) -> Avx2Mask {
        Avx2Mask(halves!(_mm256_cmpeq_epi64, self.0, other.0))
    }

    #[inline(always)]
    fn masked(self, mask: Avx2Mask) -> Self {
        Avx2Lanes(halves!(_mm256_and_si256, self.0, mask.0))
    }

    #[inline(always)]
    fn masked_or(self, mask: Avx2Mask, other: Self) -> Self {
        // SAFETY: lanes are only made from an `Avx2` token.
        Avx2Lanes(unsafe {
            [
                _mm256_blendv_epi8(other.0[0], self.0[0], mask.0[0]),
                _mm256_blendv_epi8(other.0[1], self.0[1], mask.0[1]),
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_is_found_without_pdep() {
        let Some(isa) = Avx2::detected() else { return };
        for word in [1, 0x8000_0000_0000_0001, u64::MAX, 0x00f0_1234_0000_8001] {
            for n in 0..u64::from(word.count_ones()) {
                assert_eq!(isa.nth_set_bit(word, n), nth_set_bit_without_pdep(word, n));
            }
        }
        assert_eq!((isa.nth_set_bit(0, 0), nth_set_bit_without_pdep(0, 0)), (0, 0));
    }
}
