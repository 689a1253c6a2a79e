//! Vectors of eight 64-bit lanes, one lane for each game.
//!
//! The kernel is written once over [`Isa`] and [`Lanes`], and compiled for each instruction set. The
//! token of an instruction set implements `Isa`; it exists only on a processor with the instructions,
//! and lanes are only made from it. All operations on lanes are therefore safe.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use std::ops::{Add, BitAnd, BitOr, BitXor, Not, Sub};

/// The number of games in a block.
pub const LANES: usize = 8;

/// The number of words that are transposed together.
pub const QUARTET: usize = 4;

/// One word of each of eight games, as it lies in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Word(pub [u64; LANES]);

/// The lanes of an instruction set, implemented by its token.
pub trait Isa: Copy + Send + Sync {
    /// Eight lanes in registers.
    type Lanes: Lanes;

    /// The same number in every lane.
    fn splat(self, number: u64) -> Self::Lanes;

    /// Loads the lanes from memory.
    fn load(self, word: &Word) -> Self::Lanes;

    /// The word with only its `n`-th set bit, counted from 0. `n` is below the number of set bits;
    /// for a word of zero, `n` is 0 and so is the result.
    fn nth_set_bit(self, word: u64, n: u64) -> u64;

    /// Transposes: element `w` of the `i`-th result is lane `i` of word `w`.
    fn transpose(self, words: &[Word; QUARTET]) -> [[u64; QUARTET]; LANES];

    /// Zero in every lane.
    #[inline(always)]
    fn zero(self) -> Self::Lanes {
        self.splat(0)
    }

    /// The mask that no lane is in.
    #[inline(always)]
    fn empty_mask(self) -> <Self::Lanes as Lanes>::Mask {
        self.zero().intersects(self.zero())
    }

    /// For each lane with one set bit the index of that bit; any number for a lane of zero.
    #[inline(always)]
    fn index_of_bit(self, lanes: Self::Lanes) -> Self::Lanes {
        let mut word = Word::default();
        lanes.store(&mut word);
        self.load(&Word(word.0.map(|word| word.trailing_zeros().into())))
    }

    /// The entry of the table for the index in each lane. Indices from `_used` on may give any
    /// entry.
    #[inline(always)]
    fn look_up<const SIZE: usize>(
        self,
        table: &Table<SIZE>,
        _used: usize,
        indices: Self::Lanes,
    ) -> Self::Lanes {
        self.load(&Word(table.entries(indices).map(|entry| entry as u64)))
    }
}

/// A lookup table. `SIZE` is a power of two, so that the low bits of any number are an index.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Table<const SIZE: usize>(pub [u64; SIZE]);

impl<const SIZE: usize> Table<SIZE> {
    /// The entries for the low bits of each lane, in the type that the intrinsics take.
    #[inline(always)]
    fn entries(&self, indices: impl Lanes) -> [i64; LANES] {
        const { assert!(SIZE.is_power_of_two()) }
        let mut word = Word::default();
        indices.store(&mut word);
        let mut entries = [0; LANES];
        for (entry, &index) in entries.iter_mut().zip(&word.0) {
            *entry = self.0[index as usize & (SIZE - 1)] as i64;
        }
        entries
    }
}

/// Eight lanes of 64 bits.
pub trait Lanes:
    Copy
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
{
    /// A set of lanes, the result of a comparison.
    type Mask: Mask;

    /// Stores the lanes to memory.
    fn store(self, word: &mut Word);

    /// The low 32 bits of each lane.
    fn narrow(self) -> [i32; LANES];

    /// Shifts all lanes left by a count below 64.
    fn shl(self, count: usize) -> Self;

    /// Shifts all lanes right by a count below 64.
    fn shr(self, count: usize) -> Self;

    /// Shifts each lane left by its own count; a count from 64 on gives zero.
    fn shl_each(self, counts: Self) -> Self;

    /// Shifts each lane right by its own count; a count from 64 on gives zero.
    fn shr_each(self, counts: Self) -> Self;

    /// The 64-bit products of the low 32 bits.
    fn mul_halves(self, other: Self) -> Self;

    /// The low 64 bits of the products.
    fn mul(self, other: Self) -> Self;

    /// The lanes in which both have a set bit in common.
    fn intersects(self, other: Self) -> Self::Mask;

    /// The lanes in which the two are equal.
    fn equals(self, other: Self) -> Self::Mask;

    /// `self` in the lanes of the mask, and zero in the others.
    fn masked(self, mask: Self::Mask) -> Self;

    /// `self` in the lanes of the mask, and `other` in the others.
    fn masked_or(self, mask: Self::Mask, other: Self) -> Self;
}

/// A set of lanes.
pub trait Mask: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {
    /// Bit `i` is set if lane `i` is in the set.
    fn bits(self) -> u8;
}
