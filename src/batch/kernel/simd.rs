//! Which instructions the batch runs on. The same code is compiled for each set, and all of them
//! give the same bits; which one runs is decided when a batch is made.

use std::fmt;

use thiserror::Error;

/// A set of vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Simd {
    /// What every processor has.
    Portable,
    /// AVX2, BMI1, BMI2, LZCNT and POPCNT: x86-64-v3.
    Avx2,
    /// The former and AVX-512 F, BW, DQ and VL: x86-64-v4.
    Avx512,
}

/// The environment variable that forces an instruction set, for tests and measurements.
pub const SIMD_VARIABLE: &str = "STARMINE_SIMD";

/// An instruction set was asked for that there is not, or not on this processor.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{SIMD_VARIABLE}={name:?} is not possible on this processor: expected one of {available}")]
pub struct SimdError {
    /// What was asked for.
    pub name: String,
    /// What this processor has.
    pub available: String,
}

impl Simd {
    /// All sets, the plainest first.
    pub const ALL: [Simd; 3] = [Simd::Portable, Simd::Avx2, Simd::Avx512];

    /// The name that the environment variable takes.
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

    /// The sets that this processor has, the fastest last.
    pub fn available() -> impl Iterator<Item = Simd> {
        Simd::ALL.into_iter().filter(|simd| simd.is_available())
    }

    /// This set, where the processor has it.
    ///
    /// # Errors
    /// [`SimdError`] where it does not.
    pub fn require(self) -> Result<Simd, SimdError> {
        if self.is_available() { Ok(self) } else { Err(SimdError::new(self.name())) }
    }

    /// The set that the environment variable names, else the fastest.
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
