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
pub(super) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(super) use avx512::Avx512;
pub(super) use portable::Portable;

use super::expand::Element;

/// Games that go in step.
pub(super) const LANES: usize = 8;

/// One word of each of eight games, as it lies in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct Word(pub [u64; LANES]);

/// A set of instructions that this processor has.
pub(super) trait Isa: Copy + Send + Sync {
    /// Eight lanes in registers.
    type Lanes: Lanes;

    /// The same number in every lane.
    fn splat(self, number: u64) -> Self::Lanes;

    /// The lanes from memory.
    fn load(self, word: &Word) -> Self::Lanes;

    /// The index of the `n`-th set bit of a word, counted from 0; 64 where it has fewer.
    fn nth_set_bit(self, word: u64, n: u64) -> u32;

    /// Lane `i` of word `w` becomes lane `w` of the `i`-th result.
    fn transpose(self, words: &[Word; LANES]) -> [Self::Lanes; LANES];

    /// Writes one element for each of the first `length` bits, past the caches where `STREAM` is
    /// set.
    ///
    /// # Safety
    /// The row is valid to write for `length` elements.
    unsafe fn expand<E: Element, const STREAM: bool>(
        self,
        words: &[u64],
        row: *mut E,
        length: usize,
    );

    /// Writes one element for each bit of the row.
    #[inline(always)]
    fn expand_row<E: Element, const STREAM: bool>(self, words: &[u64], row: &mut [E]) {
        // SAFETY: the row is a whole slice.
        unsafe { self.expand::<E, STREAM>(words, row.as_mut_ptr(), row.len()) }
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

    /// The number that the table has for each lane's index, of which the low bits count.
    #[inline(always)]
    fn look_up<const SIZE: usize>(self, table: &[u64; SIZE], indices: Self::Lanes) -> Self::Lanes {
        const { assert!(SIZE.is_power_of_two()) }
        let mut word = Word::default();
        indices.store(&mut word);
        self.load(&Word(entries(table, &word).map(|entry| entry as u64)))
    }
}

/// The entries of a table by the low bits of each lane, as the intrinsics take them.
#[inline(always)]
fn entries<const SIZE: usize>(table: &[u64; SIZE], word: &Word) -> [i64; LANES] {
    let mut entries = [0; LANES];
    for lane in 0..LANES {
        entries[lane] = table[word.0[lane] as usize & (SIZE - 1)] as i64;
    }
    entries
}

/// Eight lanes of 64 bits.
pub(super) trait Lanes:
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
pub(super) trait Mask:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
{
    /// Bit `i` says yes for lane `i`.
    fn bits(self) -> u8;
}
