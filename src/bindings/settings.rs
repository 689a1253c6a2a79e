//! What a batch is made and reset with, as Python gave it.

use pyo3::prelude::*;

use super::numbers::{seed as read_seed, wrong_type};
use crate::batch::Seeds;

/// The seeds of a reset as Python gave them.
pub(super) enum GivenSeeds {
    Continue,
    Batch(u64),
    Each(Vec<u64>),
}

impl GivenSeeds {
    pub fn read(given: Option<&Bound<'_, PyAny>>) -> PyResult<GivenSeeds> {
        match given {
            None => Ok(GivenSeeds::Continue),
            Some(seed) if seed.hasattr("__len__")? => {
                let seeds = seed.try_iter()?.map(|seed| read_seed(&seed?));
                Ok(GivenSeeds::Each(seeds.collect::<PyResult<_>>()?))
            }
            Some(seed) => Ok(GivenSeeds::Batch(read_seed(seed)?)),
        }
    }

    pub fn as_seeds(&self) -> Seeds<'_> {
        match self {
            GivenSeeds::Continue => Seeds::Continue,
            GivenSeeds::Batch(seed) => Seeds::Batch(*seed),
            GivenSeeds::Each(seeds) => Seeds::Each(seeds),
        }
    }
}

/// A setting's name, or an enum member whose value is the name.
pub(super) fn setting(given: &Bound<'_, PyAny>) -> PyResult<String> {
    let value = if given.hasattr("value")? { given.getattr("value")? } else { given.clone() };
    value.extract().map_err(|_| wrong_type("autoreset_mode", given, "a mode's name"))
}

/// A thread for each 1,024 games, at most one for each core.
pub(super) fn default_threads(num_envs: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (num_envs / 1024).clamp(1, cores)
}
