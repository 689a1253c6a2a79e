//! The types of numbers in which networks compute.

use half::{bf16, f16};

/// A type of numbers in which a network computes. Sums are in float32.
pub trait Real: Copy + Send + Sync {
    /// The number, exactly.
    fn widened(self) -> f32;
    /// The nearest number of this type.
    fn nearest(number: f32) -> Self;
}

impl Real for f32 {
    #[inline(always)]
    fn widened(self) -> f32 {
        self
    }

    #[inline(always)]
    fn nearest(number: f32) -> f32 {
        number
    }
}

impl Real for f16 {
    fn widened(self) -> f32 {
        self.to_f32()
    }

    fn nearest(number: f32) -> f16 {
        f16::from_f32(number)
    }
}

/// The conversions of `half` have a branch for nans, so that the compiler uses no vector
/// instructions. These have none. The nans that arithmetic gives stay nans.
impl Real for bf16 {
    #[inline(always)]
    fn widened(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }

    #[inline(always)]
    fn nearest(number: f32) -> bf16 {
        let bits = number.to_bits();
        let to_even = 0x7fff + (bits >> 16 & 1);
        bf16::from_bits((bits.wrapping_add(to_even) >> 16) as u16)
    }
}
