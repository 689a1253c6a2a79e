//! The rules and the canonical observation of eight games at once, compiled for each instruction
//! set.
//!
//! The reference is [`crate::rules::Position`]: the lockstep tests play both side by side.

pub mod block;
pub mod deal;
pub mod draw_order;
pub mod game;
pub mod lanes;
pub mod legal;
pub mod observe;
pub mod pcg32;
pub mod turn;
pub mod variant;

use lanes::{Isa, Lanes};
use variant::{Constants, KernelVariant, ones};

// The kernel's code takes no closures over lanes: a closure would not be inlined into the function
// that is compiled for the instruction set, and would run without it.

/// The `VARIANT` of a kernel that reads all numbers from its [`KernelVariant`].
pub const ANY_VARIANT: usize = 0;

/// Added to `VARIANT` for a variant with the cards and hands of the base game, but other tokens or
/// switches.
pub const OTHER_RULES: usize = 8;

/// An instruction set, and the numbers and tables of a variant.
///
/// `VARIANT` says for which variants the code is specialised. For the base game it is the number of
/// players: all numbers of the variant are constants, so that the compiler unrolls the loops over
/// seats and slots, and computes shifts and masks. With [`OTHER_RULES`] added, only the numbers of
/// cards and hands are constants. With [`ANY_VARIANT`], no number is a constant.
#[derive(Clone, Copy)]
pub struct Kernel<'a, I, const VARIANT: usize> {
    pub isa: I,
    pub variant: &'a KernelVariant,
}

impl<I: Isa, const VARIANT: usize> Kernel<'_, I, VARIANT> {
    /// Whether all numbers are constants.
    pub const IS_BASE_GAME: bool = VARIANT != ANY_VARIANT && VARIANT < OTHER_RULES;

    /// The variant's numbers.
    #[inline(always)]
    pub fn constants(&self) -> Constants {
        if VARIANT == ANY_VARIANT {
            self.variant.constants
        } else if Self::IS_BASE_GAME {
            const { Constants::standard(VARIANT) }
        } else {
            const { Constants::standard(VARIANT % OTHER_RULES) }
                .with_rules_of(self.variant.constants)
        }
    }

    /// The same number in every lane.
    #[inline(always)]
    pub fn splat(&self, number: u64) -> I::Lanes {
        self.isa.splat(number)
    }

    /// The same bit in every lane.
    #[inline(always)]
    pub fn bit(&self, index: usize) -> I::Lanes {
        self.isa.splat(1 << index)
    }

    /// A run of bits of each lane, moved down to bit 0.
    #[inline(always)]
    pub fn bits(&self, lanes: I::Lanes, start: usize, width: usize) -> I::Lanes {
        lanes.shr(start) & self.isa.splat(ones(width))
    }
}
