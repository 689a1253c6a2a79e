//! The instruction sets. The kernel is compiled once for each; the set is chosen when a batch is
//! made. All sets give the same bits.
//!
//! To add an instruction set, change these places:
//!
//! 1. here: a case of [`Simd`] with its name and its detection, ordered by speed;
//! 2. `src/batch/kernel/lanes/NAME.rs`: an `Isa` and its `Lanes`, beginning with a copy of
//!    `portable.rs`;
//! 3. `src/buffers/expand/NAME.rs`: bits to elements of one, two and four bytes;
//! 4. the entry functions with `#[target_feature]`, in the batch's step and in
//!    `src/buffers/unpack.rs`;
//! 5. its name in `tests/python/helpers/instruction_sets.py` and `benchmarks/measuring.py`.
//!
//! `cargo test --test lockstep` tests it on a processor that supports it.

use std::fmt;

use thiserror::Error;

/// A set of vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Simd {
    /// The instructions that every processor has.
    Portable,
    /// AVX2, BMI1, BMI2, LZCNT and POPCNT: x86-64-v3.
    Avx2,
    /// In addition AVX-512 F, BW, CD, DQ and VL: x86-64-v4.
    Avx512,
}

/// The environment variable that forces an instruction set, for tests and measurements.
pub const SIMD_VARIABLE: &str = "STARMINE_SIMD";

/// An instruction set that does not exist, or that this processor does not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[error("{SIMD_VARIABLE}={name:?} is not possible on this processor: expected one of {available}")]
pub struct SimdError {
    /// The given name.
    pub name: String,
    /// The sets of this processor.
    pub available: String,
}

impl Simd {
    /// All sets, the slowest first.
    pub const ALL: [Simd; 3] = [Simd::Portable, Simd::Avx2, Simd::Avx512];

    /// The name, as the environment variable gives it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Simd::Portable => "portable",
            Simd::Avx2 => "avx2",
            Simd::Avx512 => "avx512",
        }
    }

    /// Whether this processor has the set.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Simd::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512 => {
                Simd::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512cd")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// The sets of this processor, the fastest last.
    pub fn available() -> impl Iterator<Item = Simd> {
        Simd::ALL.into_iter().filter(|simd| simd.is_available())
    }

    /// This set, checked to be available.
    ///
    /// # Errors
    /// [`SimdError`] if the processor does not have it.
    pub fn require(self) -> Result<Simd, SimdError> {
        if self.is_available() { Ok(self) } else { Err(SimdError::new(self.name())) }
    }

    /// The set that the environment variable names, or else the fastest.
    ///
    /// # Errors
    /// [`SimdError`] for a set that this processor does not have.
    pub fn chosen() -> Result<Simd, SimdError> {
        let Some(given) = std::env::var_os(SIMD_VARIABLE).filter(|given| !given.is_empty()) else {
            return Ok(Simd::available().last().unwrap_or(Simd::Portable));
        };
        Simd::available()
            .find(|simd| given == simd.name())
            .ok_or_else(|| SimdError::new(&given.to_string_lossy()))
    }
}

impl SimdError {
    fn new(name: &str) -> SimdError {
        let available: Vec<&str> = Simd::available().map(Simd::name).collect();
        SimdError { name: name.to_owned(), available: available.join(", ") }
    }
}

impl fmt::Display for Simd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
