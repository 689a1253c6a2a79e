use thiserror::Error;

use super::kernel::simd::SimdError;
use super::outputs::BufferError;
use super::partners::PartnersError;
use super::schedule::pool::ThreadsError;
use crate::rules::ActionSet;

/// Actions that the rules refuse; no game has moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IllegalActions {
    /// The games concerned.
    pub rows: Vec<usize>,
    /// The action of each.
    pub actions: Vec<i64>,
    /// What was legal in each; nothing in a game that is over.
    pub legal: Vec<ActionSet>,
}

impl std::fmt::Display for IllegalActions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 5;
        write!(formatter, "{} illegal action(s), no game has moved: ", self.rows.len())?;
        for index in 0..self.rows.len().min(SHOWN) {
            let (row, action) = (self.rows[index], self.actions[index]);
            let legal: Vec<usize> = self.legal[index].iter().collect();
            let separator = if index == 0 { "" } else { "; " };
            if legal.is_empty() {
                write!(
                    formatter,
                    "{separator}actions[{row}]={action}, but game {row} is over: reset it first"
                )?;
            } else {
                write!(formatter, "{separator}actions[{row}]={action}, expected one of {legal:?}")?;
            }
        }
        let more = self.rows.len().saturating_sub(SHOWN);
        if more > 0 { write!(formatter, "; and {more} more") } else { Ok(()) }
    }
}

impl std::error::Error for IllegalActions {}

/// Why a batch refused a call; it is unchanged then.
#[derive(Debug, Error)]
pub enum BatchError {
    /// Actions that the rules refuse.
    #[error(transparent)]
    IllegalActions(#[from] IllegalActions),
    /// A buffer or an array of the wrong length.
    #[error(transparent)]
    Buffer(#[from] BufferError),
    /// The threads could not be started.
    #[error(transparent)]
    Threads(#[from] ThreadsError),
    /// Instructions were asked for that this processor does not have.
    #[error(transparent)]
    Simd(#[from] SimdError),
    /// Partners who cannot be.
    #[error(transparent)]
    Partners(#[from] PartnersError),
    /// No games at all, or too many.
    #[error("num_envs={0} is not allowed: expected 1 to {max}", max = u32::MAX)]
    NumEnvs(usize),
    /// Not enough memory for so many games.
    #[error("num_envs={num_envs}: {source}")]
    Memory {
        /// The number of games.
        num_envs: usize,
        /// What the allocator says.
        source: std::collections::TryReserveError,
    },
    /// A mask without any game in it.
    #[error("reset_mask is all False: expected at least one game to reset")]
    EmptyResetMask,
}
