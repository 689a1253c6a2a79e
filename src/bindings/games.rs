//! What a call needs of a batch: its lock, the actions, the buffers, the interpreter released.

use std::sync::{Mutex, MutexGuard, TryLockError};

use pyo3::prelude::*;

use super::arrays::read_integers;
use super::claims::Claims;
use super::errors::BusyError;
use super::outputs::{Buffers, Given};
use crate::batch::{self, BatchError, Outputs};

/// The games with what their calls need.
pub(super) struct Games {
    pub batch: batch::Batch,
    /// The actions of the step that is played.
    actions: Vec<i64>,
}

impl Games {
    pub fn new(batch: batch::Batch) -> Games {
        Games { batch, actions: Vec::new() }
    }

    /// Up to this many, games take less time than releasing the interpreter and taking it again.
    const KEEP_INTERPRETER: usize = 7;

    pub fn read_actions(&mut self, given: &Bound<'_, PyAny>) -> PyResult<()> {
        read_integers("actions", given, self.batch.num_envs(), &mut self.actions)
    }

    pub fn step(&mut self, outputs: Outputs<'_>) -> Result<(), BatchError> {
        self.batch.step(&self.actions, outputs)
    }

    /// Makes a call that writes these buffers, which are its own meanwhile.
    pub fn write<'py>(
        &mut self,
        py: Python<'py>,
        given: Given<'_, 'py>,
        call: impl FnOnce(&mut Games, Outputs<'_>) -> Result<(), BatchError> + Send,
    ) -> PyResult<()> {
        let mut claims = Claims::none();
        let mut buffers = Buffers::check(&self.batch, given, &mut claims)?;
        let keeps_interpreter = self.batch.num_envs() <= Self::KEEP_INTERPRETER;
        let held = claims.hold(keeps_interpreter)?;
        let outputs = buffers.slices(&held);
        let result =
            if keeps_interpreter { call(self, outputs) } else { py.detach(|| call(self, outputs)) };
        result.map_err(PyErr::from)
    }
}

/// The games, for one caller at a time.
pub(super) fn lock(games: &Mutex<Games>) -> PyResult<MutexGuard<'_, Games>> {
    match games.try_lock() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => Err(BusyError::new_err(
            "this batch is in use by another thread: expected one caller at a time",
        )),
    }
}
