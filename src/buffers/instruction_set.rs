//! The instruction sets, each with a token, and the one way to run code that is compiled for them.
//!
//! A token exists only on a processor that has the instructions. [`InstructionSet::run`] calls a [`Task`] with the
//! token, in a function that is compiled with these instructions: so code that has a token may use them. All sets
//! give the same bits.
//!
//! To add an instruction set, change these places:
//!
//! 1. here: a token, a case of `Token` with its name and its detection, and the function that calls its tasks;
//! 2. `src/batch/kernel/lanes/NAME.rs`: its lanes, beginning with a copy of `portable.rs`;
//! 3. `src/buffers/expand/NAME.rs`: bits to elements of one, two and four bytes;
//! 4. `src/nn/sparse_rows.rs`: the inputs of a layer that are not zero;
//! 5. its name in `tests/python/helpers/instruction_sets.py` and `benchmarks/measuring.py`.
//!
//! `cargo test --test lockstep` tests it on a processor that supports it.

use std::fmt;

use thiserror::Error;

#[cfg(target_arch = "x86_64")]
use crate::processor::Processor;

/// The environment variable that forces an instruction set, for tests and measurements.
pub const SIMD_VARIABLE: &str = "STARMINE_SIMD";

/// An instruction set that does not exist, or that this processor does not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[error("{SIMD_VARIABLE}={name:?} is not possible on this processor: expected one of {available}")]
pub struct InstructionSetError {
    /// The given name.
    pub name: String,
    /// The sets of this processor.
    pub available: String,
}

/// The token of the instructions that every processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Portable;

/// The token of AVX2, BMI1, BMI2, LZCNT and POPCNT.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx2 {
    /// Whether the instruction `pdep` takes a few cycles.
    has_fast_pdep: bool,
}

/// The token of AVX-512 F, BW, CD, DQ and VL, and of what AVX2 includes.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx512(());

/// A set of vector instructions that this processor has. [`InstructionSet::available`] lists them: `portable`, `avx2`
/// with AVX2, BMI1, BMI2, LZCNT and POPCNT (x86-64-v3), and `avx512` with AVX-512 F, BW, CD, DQ and VL in addition
/// (x86-64-v4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionSet(Token);

/// The token of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

/// Work that is compiled for each instruction set.
pub(crate) trait Task<I> {
    /// Does the work. Implementations are `#[inline(always)]`, and so are the functions that they call: only what is
    /// inlined is compiled for the instruction set. A closure is not.
    fn run(self, isa: I);
}

/// A task for each vector instruction set of x86-64.
#[cfg(target_arch = "x86_64")]
pub(crate) trait VectorTask: Task<Avx2> + Task<Avx512> {}

#[cfg(target_arch = "x86_64")]
impl<T: Task<Avx2> + Task<Avx512>> VectorTask for T {}

/// A task for the portable instructions: other architectures have no vector instruction set here.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) trait VectorTask: Task<Portable> {}

#[cfg(not(target_arch = "x86_64"))]
impl<T: Task<Portable>> VectorTask for T {}

// Each task has its own function for each instruction set. In one function for all tasks the compiler
// would merge the common code of the kernels, and the sizes of a kernel would not be constants. Each
// instruction set has its own module, since the compiler works on several modules at a time.

mod portable {
    #[inline(never)]
    pub fn run(task: impl super::Task<super::Portable>) {
        task.run(super::Portable);
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub fn run(task: impl super::Task<super::Avx2>, isa: super::Avx2) {
        task.run(isa);
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
    )]
    pub fn run(task: impl super::Task<super::Avx512>, isa: super::Avx512) {
        task.run(isa);
    }
}

impl InstructionSet {
    /// The instructions that every processor has.
    pub const PORTABLE: InstructionSet = InstructionSet(Token::Portable);

    /// The name, as the environment variable gives it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            Token::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Token::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Token::Avx512(_) => "avx512",
        }
    }

    /// The sets of this processor, the fastest last.
    pub fn available() -> impl Iterator<Item = InstructionSet> {
        #[cfg(target_arch = "x86_64")]
        let (avx2, avx512) = (Avx2::detected(), Avx512::detected());
        [
            Some(Token::Portable),
            #[cfg(target_arch = "x86_64")]
            avx2.map(Token::Avx2),
            #[cfg(target_arch = "x86_64")]
            avx512.map(Token::Avx512),
        ]
        .into_iter()
        .flatten()
        .map(InstructionSet)
    }

    /// The set that the environment variable names, or else the fastest.
    ///
    /// # Errors
    /// [`InstructionSetError`] for a set that does not exist, or that this processor does not have.
    pub fn chosen() -> Result<InstructionSet, InstructionSetError> {
        let Some(given) = std::env::var_os(SIMD_VARIABLE).filter(|given| !given.is_empty()) else {
            return Ok(InstructionSet::fastest());
        };
        InstructionSet::available().find(|simd| given == simd.name()).ok_or_else(|| {
            let available: Vec<&str> =
                InstructionSet::available().map(InstructionSet::name).collect();
            let name = given.to_string_lossy().into_owned();
            InstructionSetError { name, available: available.join(", ") }
        })
    }

    /// The fastest set of this processor.
    pub(crate) fn fastest() -> InstructionSet {
        InstructionSet::available().last().unwrap_or(InstructionSet::PORTABLE)
    }

    /// Does the work with this instruction set.
    #[inline(always)]
    pub(crate) fn run(self, task: impl VectorTask + Task<Portable>) {
        self.run_special(task, |task| task);
    }

    /// Does special work with a vector instruction set. Where an x86-64 processor has none, which is rare, it does the
    /// general work that `general` makes of it, so that the special work is not compiled for this instruction set.
    #[inline(always)]
    pub(crate) fn run_special<S: VectorTask, G: Task<Portable>>(
        self,
        special: S,
        general: impl FnOnce(S) -> G,
    ) {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Token::Portable => portable::run(general(special)),
            // SAFETY: the token exists only if the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Token::Avx2(isa) => unsafe { avx2::run(special, isa) },
            // SAFETY: likewise.
            #[cfg(target_arch = "x86_64")]
            Token::Avx512(isa) => unsafe { avx512::run(special, isa) },
            #[cfg(not(target_arch = "x86_64"))]
            Token::Portable => {
                let _ = general;
                portable::run(special);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// The token, on a processor with the instructions.
    pub(crate) fn detected() -> Option<Avx2> {
        let has_instructions = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        let token = || Avx2 { has_fast_pdep: Processor::this().has_fast_bmi2 };
        has_instructions.then(token)
    }

    /// Whether the instruction `pdep` takes a few cycles, and not some for each set bit.
    #[inline(always)]
    pub(crate) const fn has_fast_pdep(self) -> bool {
        self.has_fast_pdep
    }
}

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    /// The token, on a processor with the instructions.
    pub(crate) fn detected() -> Option<Avx512> {
        let has_instructions = Avx2::detected().is_some()
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        has_instructions.then_some(Avx512(()))
    }
}

impl fmt::Display for InstructionSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
