//! Lanes without any instruction set.

use std::array::from_fn;
use std::ops::{Add, BitAnd, BitOr, BitXor, Not, Sub};

use super::{Isa, LANES, Lanes, Mask, QUARTET, Word};
use crate::buffers::Portable;
use crate::rules::nth_set_bit_portable;

/// Plain arrays, which the compiler turns into the vector instructions that every processor has.
#[derive(Clone, Copy)]
pub struct PortableLanes([u64; LANES]);

/// All ones in the lanes of the set, zero in the others.
#[derive(Clone, Copy)]
pub struct PortableMask([u64; LANES]);

impl Isa for Portable {
    type Lanes = PortableLanes;

    #[inline(always)]
    fn splat(self, number: u64) -> PortableLanes {
        PortableLanes([number; LANES])
    }

    #[inline(always)]
    fn load(self, word: &Word) -> PortableLanes {
        PortableLanes(word.0)
    }

    #[inline(always)]
    fn nth_set_bit(self, word: u64, n: u64) -> u64 {
        if word == 0 { 0 } else { 1 << nth_set_bit_portable(word, n as u32) }
    }

    #[inline(always)]
    fn transpose(self, words: &[Word; QUARTET]) -> [[u64; QUARTET]; LANES] {
        from_fn(|lane| from_fn(|word| words[word].0[lane]))
    }
}

impl PortableLanes {
    #[inline(always)]
    fn zip(self, other: Self, each: impl Fn(u64, u64) -> u64) -> Self {
        PortableLanes(from_fn(|lane| each(self.0[lane], other.0[lane])))
    }
}

macro_rules! operator {
    ($type:ident, $trait:ident, $name:ident, $each:expr) => {
        impl $trait for $type {
            type Output = Self;

            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                let each: fn(u64, u64) -> u64 = $each;
                $type(from_fn(|lane| each(self.0[lane], other.0[lane])))
            }
        }
    };
}

operator!(PortableLanes, BitAnd, bitand, |a, b| a & b);
operator!(PortableLanes, BitOr, bitor, |a, b| a | b);
operator!(PortableLanes, BitXor, bitxor, |a, b| a ^ b);
operator!(PortableLanes, Add, add, u64::wrapping_add);
operator!(PortableLanes, Sub, sub, u64::wrapping_sub);
operator!(PortableMask, BitAnd, bitand, |a, b| a & b);
operator!(PortableMask, BitOr, bitor, |a, b| a | b);

impl Not for PortableLanes {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        PortableLanes(self.0.map(|lane| !lane))
    }
}

impl Not for PortableMask {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        PortableMask(self.0.map(|lane| !lane))
    }
}

impl Mask for PortableMask {
    #[inline(always)]
    fn bits(self) -> u8 {
        (0..LANES).fold(0, |bits, lane| bits | (self.0[lane] & 1 << lane) as u8)
    }
}

impl Lanes for PortableLanes {
    type Mask = PortableMask;

    #[inline(always)]
    fn store(self, word: &mut Word) {
        word.0 = self.0;
    }

    #[inline(always)]
    fn narrow(self) -> [i32; LANES] {
        self.0.map(|lane| lane as i32)
    }

    #[inline(always)]
    fn shl(self, count: usize) -> Self {
        PortableLanes(self.0.map(|lane| lane << count))
    }

    #[inline(always)]
    fn shr(self, count: usize) -> Self {
        PortableLanes(self.0.map(|lane| lane >> count))
    }

    #[inline(always)]
    fn shl_each(self, counts: Self) -> Self {
        self.zip(counts, |lane, count| if count < 64 { lane << count } else { 0 })
    }

    #[inline(always)]
    fn shr_each(self, counts: Self) -> Self {
        self.zip(counts, |lane, count| if count < 64 { lane >> count } else { 0 })
    }

    #[inline(always)]
    fn mul_halves(self, other: Self) -> Self {
        self.zip(other, |a, b| (a & 0xffff_ffff) * (b & 0xffff_ffff))
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, u64::wrapping_mul)
    }

    #[inline(always)]
    fn intersects(self, other: Self) -> PortableMask {
        PortableMask(self.zip(other, |a, b| u64::from(a & b != 0).wrapping_neg()).0)
    }

    #[inline(always)]
    fn equals(self, other: Self) -> PortableMask {
        PortableMask(self.zip(other, |a, b| u64::from(a == b).wrapping_neg()).0)
    }

    #[inline(always)]
    fn masked(self, mask: PortableMask) -> Self {
        self & PortableLanes(mask.0)
    }

    #[inline(always)]
    fn masked_or(self, mask: PortableMask, other: Self) -> Self {
        let mask = PortableLanes(mask.0);
        (self & mask) | (other & !mask)
    }
}
