//! The rules and the canonical observation for eight games at once, written over [`Isa`].
//!
//! The reference is [`crate::rules::Position`]: tests play both side by side.

pub mod block;
pub mod deal;
pub mod game;
pub mod lanes;
pub mod layout;
pub mod observe;
pub mod pcg32;
pub mod plan;
pub mod simd;
pub mod turn;

use lanes::{Isa, Lanes, Word};
use plan::{Plan, Sizes, ones};

// Closures over lanes would not do here: what is compiled for an instruction set is what is always
// inlined into its entry, and closures are not.

/// In place of the players of a base game: any game at all.
pub const ANY: usize = 0;

/// Added to the players of a base game: with other tokens or switches.
pub const SWITCHED: usize = 8;

/// What it takes to play: the instructions, and the variant's numbers and tables.
///
/// `STANDARD` is the number of players of the base game, whose numbers are constants, so that the
/// compiler unrolls the loops over seats and slots and computes all shifts and masks; with
/// [`SWITCHED`] added, only its cards and hands are constants; or it is [`ANY`].
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

    #[inline(always)]
    pub fn splat(&self, number: u64) -> I::Lanes {
        self.isa.splat(number)
    }

    /// A bit in every lane.
    #[inline(always)]
    pub fn bit(&self, index: usize) -> I::Lanes {
        self.isa.splat(1 << index)
    }

    /// The bits of a field, moved down to the lowest.
    #[inline(always)]
    pub fn field(&self, lanes: I::Lanes, start: usize, width: usize) -> I::Lanes {
        lanes.shr(start) & self.isa.splat(ones(width))
    }

    /// A word of a block.
    ///
    /// A block has [`Sizes::block_words`] words, and all indices are constants below [`crate::batch::kernel::block::HANDS`]
    /// or slots of a hand, which [`Sizes::hand`] finds.
    #[inline(always)]
    pub fn load(&self, block: &[Word], word: usize) -> I::Lanes {
        debug_assert!(word < block.len());
        // SAFETY: the index is in the block, as said above; checking it each time would cost a
        // tenth of a step.
        self.isa.load(unsafe { block.get_unchecked(word) })
    }

    /// Writes a word of a block, as [`Kernel::load`] reads it.
    #[inline(always)]
    pub fn store(&self, block: &mut [Word], word: usize, lanes: I::Lanes) {
        debug_assert!(word < block.len());
        // SAFETY: as for `load`.
        lanes.store(unsafe { block.get_unchecked_mut(word) });
    }
}
