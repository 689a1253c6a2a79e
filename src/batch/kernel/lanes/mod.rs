//! Eight games side by side: a lane of 64 bits for each.
//!
//! The kernel is written once over [`Isa`] and [`Lanes`] and compiled for each set of instructions.
//! An `Isa` is a token: it can only be had on a processor that has the instructions, and lanes can
//! only be made from it, so that all operations on them are safe.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use std::ops::{Add, BitAnd, BitOr, BitXor, Not, Sub};

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
pub use portable::Portable;

use crate::batch::rows::expand::{Bits, Element};

/// Games that go in step.
pub const LANES: usize = 8;

/// Words that are transposed together.
pub const QUARTET: usize = 4;

/// One word of each of eight games, as it lies in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Word(pub [u64; LANES]);

/// A set of instructions that this processor has.
pub trait Isa: Copy + Send + Sync {
    /// Eight lanes in registers.
    type Lanes: Lanes;

    /// From how many bytes on rows are written in aligned blocks, where they are not streamed.
    const ALIGNED_FROM: Option<usize>;

    /// The same number in every lane.
    fn splat(self, number: u64) -> Self::Lanes;

    /// The lanes from memory.
    fn load(self, word: &Word) -> Self::Lanes;

    /// The `n`-th set bit of a word alone, counted from 0; nothing of an empty word. `n` is below the
    /// number of its bits, or 0.
    fn nth_set_bit(self, word: u64, n: u64) -> u64;

    /// Lane `i` of word `w` becomes number `w` of the `i`-th result.
    fn transpose(self, words: &[Word; QUARTET]) -> [[u64; QUARTET]; LANES];

    /// Writes one element for each of the first `length` bits, past the caches where `STREAM` is
    /// set.
    ///
    /// # Safety
    /// The row is valid to write for `length` elements, and the bits have a word for each 64 of them.
    unsafe fn expand<E: Element, const STREAM: bool>(
        self,
        bits: impl Bits,
        row: *mut E,
        length: usize,
    );

    /// Writes one element for each of the first bits of the words; zeros past their end.
    #[inline(always)]
    fn expand_words<E: Element>(self, words: &[u64], row: &mut [E]) {
        // SAFETY: the row is a whole slice, and a slice of words gives zeros past its end.
        unsafe { self.expand::<E, false>(words, row.as_mut_ptr(), row.len()) }
    }

    /// Zero in every lane.
    #[inline(always)]
    fn zero(self) -> Self::Lanes {
        self.splat(0)
    }

    /// No lane at all.
    #[inline(always)]
    fn nowhere(self) -> <Self::Lanes as Lanes>::Mask {
        self.zero().shares(self.zero())
    }

    /// Of lanes with one bit its index; of an empty lane any number.
    #[inline(always)]
    fn index_of_bit(self, lanes: Self::Lanes) -> Self::Lanes {
        let mut word = Word::default();
        lanes.store(&mut word);
        self.load(&Word(word.0.map(|word| word.trailing_zeros().into())))
    }

    /// The table's entry for each lane's index. Only the first `_used` are asked for: of any other index
    /// it gives some entry.
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

/// Numbers that lanes look up: a power of two of them, so that the low bits of any index are one.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Table<const SIZE: usize>(pub [u64; SIZE]);

impl<const SIZE: usize> Table<SIZE> {
    /// The entries by the low bits of each lane, as the intrinsics take them.
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
    /// A yes or no for each lane.
    type Mask: Mask;

    /// The lanes to memory.
    fn store(self, word: &mut Word);

    /// The low halves of the lanes.
    fn narrow(self) -> [i32; LANES];

    /// Shifts all lanes to the left; `count` is below 64.
    fn shl(self, count: usize) -> Self;

    /// Shifts all lanes to the right; `count` is below 64.
    fn shr(self, count: usize) -> Self;

    /// Shifts each lane to the left by its own count; 64 and more leave nothing.
    fn shl_each(self, counts: Self) -> Self;

    /// Shifts each lane to the right by its own count; 64 and more leave nothing.
    fn shr_each(self, counts: Self) -> Self;

    /// The products of the low halves.
    fn mul_halves(self, other: Self) -> Self;

    /// The low words of the products.
    fn mul(self, other: Self) -> Self;

    /// Where the two have a bit in common.
    fn shares(self, other: Self) -> Self::Mask;

    /// Where the two are equal.
    fn equals(self, other: Self) -> Self::Mask;

    /// The lanes where the mask holds, elsewhere zero.
    fn keep(self, mask: Self::Mask) -> Self;

    /// The lanes where the mask holds, elsewhere those of the other.
    fn or_else(self, mask: Self::Mask, other: Self) -> Self;
}

/// A yes or no for each lane.
pub trait Mask: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {
    /// Bit `i` says yes for lane `i`.
    fn bits(self) -> u8;
}
