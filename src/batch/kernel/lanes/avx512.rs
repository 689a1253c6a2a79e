//! Lanes of AVX-512.

use std::arch::x86_64::*;
use std::ops::{Add, BitAnd, BitOr, BitXor, Not, Sub};

use super::{Isa, LANES, Lanes, Mask, QUARTET, Table, Word};
use crate::buffers::Avx512;

/// All eight lanes in one register.
#[derive(Clone, Copy)]
pub struct Avx512Lanes(__m512i);

/// One bit for each lane.
#[derive(Clone, Copy)]
pub struct Avx512Mask(__mmask8);

/// The selections that gather the words of games 0 to 3, and of games 4 to 7, from pairs of words
/// of every other game.
static LOWER_GAMES: Word = Word([0, 1, 8, 9, 2, 3, 10, 11]);
static UPPER_GAMES: Word = Word([4, 5, 12, 13, 6, 7, 14, 15]);

impl Isa for Avx512 {
    type Lanes = Avx512Lanes;

    #[inline(always)]
    fn splat(self, number: u64) -> Avx512Lanes {
        // SAFETY: the token exists only if the processor has the instructions.
        Avx512Lanes(unsafe { _mm512_set1_epi64(number as i64) })
    }

    #[inline(always)]
    fn load(self, word: &Word) -> Avx512Lanes {
        // SAFETY: the token exists only if the processor has the instructions; a word is aligned to
        // 64 bytes and as long as a register.
        Avx512Lanes(unsafe { _mm512_load_si512(word.0.as_ptr().cast()) })
    }

    #[inline(always)]
    fn nth_set_bit(self, word: u64, n: u64) -> u64 {
        // SAFETY: the token exists only if the processor has the instructions.
        unsafe { _pdep_u64(1 << n, word) }
    }

    #[inline(always)]
    fn index_of_bit(self, lanes: Avx512Lanes) -> Avx512Lanes {
        // SAFETY: the token exists only if the processor has the instructions.
        self.splat(63) - Avx512Lanes(unsafe { _mm512_lzcnt_epi64(lanes.0) })
    }

    #[inline(always)]
    fn look_up<const SIZE: usize>(
        self,
        table: &Table<SIZE>,
        used: usize,
        indices: Avx512Lanes,
    ) -> Avx512Lanes {
        if used <= 32 {
            return self.choose(table, 0, indices);
        }
        if used <= 64 {
            let (low, high) = (self.choose(table, 0, indices), self.choose(table, 2, indices));
            return high.masked_or(indices.intersects(self.splat(32)), low);
        }
        let [a, b, c, d, e, f, g, h] = table.entries(indices);
        // SAFETY: the token exists only if the processor has the instructions.
        Avx512Lanes(unsafe { _mm512_set_epi64(h, g, f, e, d, c, b, a) })
    }

    #[inline(always)]
    fn transpose(self, words: &[Word; QUARTET]) -> [[u64; QUARTET]; LANES] {
        let mut rows = [[0; QUARTET]; LANES];
        let (a, b) = (self.load(&words[0]).0, self.load(&words[1]).0);
        let (c, d) = (self.load(&words[2]).0, self.load(&words[3]).0);
        // SAFETY: the token exists only if the processor has the instructions; a word is aligned to
        // 64 bytes and as long as a register, a row as long as half of one.
        unsafe {
            // Pairs of words of every other game, then two games in a register.
            let even = (_mm512_unpacklo_epi64(a, b), _mm512_unpacklo_epi64(c, d));
            let odd = (_mm512_unpackhi_epi64(a, b), _mm512_unpackhi_epi64(c, d));
            // Volatile reads hide the constants from the compiler, which would otherwise build each
            // half of the results separately, with twice as many instructions.
            let lower = (&raw const LOWER_GAMES).cast::<__m512i>().read_volatile();
            let upper = (&raw const UPPER_GAMES).cast::<__m512i>().read_volatile();
            for (first, (ab, cd)) in [even, odd].into_iter().enumerate() {
                for (lane, games) in [(first, lower), (first + 4, upper)] {
                    let two = _mm512_permutex2var_epi64(ab, games, cd);
                    let (row, other) = (rows[lane].as_mut_ptr(), rows[lane + 2].as_mut_ptr());
                    _mm256_storeu_si256(row.cast(), _mm512_castsi512_si256(two));
                    _mm256_storeu_si256(other.cast(), _mm512_extracti64x4_epi64::<1>(two));
                }
            }
        }
        rows
    }
}

impl Avx512 {
    /// The entry for the index in each lane, from the 32 entries that begin with this part of 16.
    #[inline(always)]
    fn choose<const SIZE: usize>(
        self,
        table: &Table<SIZE>,
        part: usize,
        indices: Avx512Lanes,
    ) -> Avx512Lanes {
        let parts = table.0.as_chunks::<16>().0;
        let (low, high) = (parts[part].as_ptr(), parts[part + 1].as_ptr());
        // SAFETY: the token exists only if the processor has the instructions; a part is two
        // registers, aligned as the table is.
        let (low, high) = unsafe {
            (
                _mm512_permutex2var_epi64(
                    _mm512_load_si512(low.cast()),
                    indices.0,
                    _mm512_load_si512(low.add(LANES).cast()),
                ),
                _mm512_permutex2var_epi64(
                    _mm512_load_si512(high.cast()),
                    indices.0,
                    _mm512_load_si512(high.add(LANES).cast()),
                ),
            )
        };
        Avx512Lanes(high).masked_or(indices.intersects(self.splat(16)), Avx512Lanes(low))
    }
}

macro_rules! operator {
    ($trait:ident, $name:ident, $intrinsic:ident) => {
        impl $trait for Avx512Lanes {
            type Output = Self;

            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                // SAFETY: lanes are only made from an `Avx512` token.
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
        // SAFETY: lanes are only made from an `Avx512` token.
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
        // A volatile write is always of the whole word. The compiler would otherwise use a masked
        // store when some lanes are unchanged, and a load cannot be forwarded from a masked store.
        // SAFETY: lanes are only made from an `Avx512` token; a word is aligned to 64 bytes and as
        // long as a register.
        unsafe { word.0.as_mut_ptr().cast::<__m512i>().write_volatile(self.0) }
    }

    #[inline(always)]
    fn narrow(self) -> [i32; LANES] {
        let mut low = [0; LANES];
        // SAFETY: lanes are only made from an `Avx512` token; the array is as long as half a
        // register.
        unsafe { _mm256_storeu_si256(low.as_mut_ptr().cast(), _mm512_cvtepi64_epi32(self.0)) };
        low
    }

    #[inline(always)]
    fn shl(self, count: usize) -> Self {
        // SAFETY: lanes are only made from an `Avx512` token.
        Avx512Lanes(unsafe { _mm512_sll_epi64(self.0, _mm_cvtsi64_si128(count as i64)) })
    }

    #[inline(always)]
    fn shr(self, count: usize) -> Self {
        // SAFETY: lanes are only made from an `Avx512` token.
        Avx512Lanes(unsafe { _mm512_srl_epi64(self.0, _mm_cvtsi64_si128(count as i64)) })
    }

    #[inline(always)]
    fn shl_each(self, counts: Self) -> Self {
        // SAFETY: lanes are only made from an `Avx512` token.
        Avx512Lanes(unsafe { _mm512_sllv_epi64(self.0, counts.0) })
    }

    #[inline(always)]
    fn shr_each(self, counts: Self) -> Self {
        // SAFETY: lanes are only made from an `Avx512` token.
        Avx512Lanes(unsafe { _mm512_srlv_epi64(self.0, counts.0) })
    }

    #[inline(always)]
    fn mul_halves(self, other: Self) -> Self {
        // SAFETY: lanes are only made from an `Avx512` token.
        Avx512Lanes(unsafe { _mm512_mul_epu32(self.0, other.0) })
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: lanes are only made from an `Avx512` token.
        Avx512Lanes(unsafe { _mm512_mullo_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn intersects(self, other: Self) -> Avx512Mask {
        // SAFETY: lanes are only made from an `Avx512` token.
        Avx512Mask(unsafe { _mm512_test_epi64_mask(self.0, other.0) })
    }

    #[inline(always)]
    fn equals(self, other: Self) -> Avx512Mask {
        // SAFETY: lanes are only made from an `Avx512` token.
        Avx512Mask(unsafe { _mm512_cmpeq_epi64_mask(self.0, other.0) })
    }

    #[inline(always)]
    fn masked(self, mask: Avx512Mask) -> Self {
        // SAFETY: lanes are only made from an `Avx512` token.
        Avx512Lanes(unsafe { _mm512_maskz_mov_epi64(mask.0, self.0) })
    }

    #[inline(always)]
    fn masked_or(self, mask: Avx512Mask, other: Self) -> Self {
        // SAFETY: lanes are only made from an `Avx512` token.
        Avx512Lanes(unsafe { _mm512_mask_mov_epi64(other.0, mask.0, self.0) })
    }
}
