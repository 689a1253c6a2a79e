//! The rules and the canonical observation of eight games at once, compiled for each instruction
//! set.
//!
//! The reference is [`crate::rules::Position`]: the lockstep tests play both side by side.

pub mod block;
pub mod deal;
pub mod game;
pub mod lanes;
pub mod legal;
pub mod observe;
pub mod pcg32;
pub mod plan;
pub mod processor;
pub mod turn;

use lanes::{Isa, Lanes};
use plan::{Plan, Sizes, ones};

// The kernel's code takes no closures over lanes: a closure would not be inlined into the function
// that is compiled for the instruction set, and would run without it.

/// The value of `STANDARD` for variants whose numbers are read from the plan.
pub const ANY: usize = 0;

/// Added to `STANDARD` for base games with other tokens or switches.
pub const SWITCHED: usize = 8;

/// An instruction set, and the numbers and tables of a variant.
///
/// `STANDARD` is the number of players of a base game: its numbers are constants, so that the
/// compiler unrolls the loops over seats and slots and computes all shifts and masks. With
/// [`SWITCHED`] added, only the cards and hands are constants; with [`ANY`], nothing is.
#[derive(Clone, Copy)]
pub struct Kernel<'a, I, const STANDARD: usize> {
    pub isa: I,
    pub plan: &'a Plan,
}

impl<I: Isa, const STANDARD: usize> Kernel<'_, I, STANDARD> {
    /// Whether all numbers are constants.
    pub const IS_BASE_GAME: bool = STANDARD != ANY && STANDARD < SWITCHED;

    /// The variant's numbers.
    #[inline(always)]
    pub fn sizes(&self) -> Sizes {
        if STANDARD == ANY {
            self.plan.sizes
        } else if Self::IS_BASE_GAME {
            const { Sizes::standard(STANDARD) }
        } else {
            const { Sizes::standard(STANDARD % SWITCHED) }.with_rules_of(self.plan.sizes)
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
    pub fn field(&self, lanes: I::Lanes, start: usize, width: usize) -> I::Lanes {
        lanes.shr(start) & self.isa.splat(ones(width))
    }
}
