//! What the methods of a batch share: its lock, the actions, the buffers, the interpreter released.

use std::sync::{Mutex, MutexGuard, TryLockError};

use pyo3::prelude::*;

use super::arrays::{integer_array, mask, read_integers};
use super::batch::Batch;
use super::claims::Claims;
use super::errors::BusyError;
use super::outputs::{Arrays, Buffers, Given, Observations, Pools};
use super::rows::{LastRows, RowPool};
use super::settings::GivenSeeds;
use crate::batch::{self, BatchError, Outputs};

/// The games with what their calls need.
pub(super) struct Games {
    pub batch: batch::Batch,
    /// The actions of the step that is played.
    actions: Vec<i64>,
    /// The buffers of the last call, which did not overlap each other.
    apart: Claims,
}

impl Games {
    pub fn new(batch: batch::Batch) -> Games {
        Games { batch, actions: Vec::new(), apart: Claims::none() }
    }

    /// Up to so many rows of observations, a call keeps the interpreter: it takes a few microseconds,
    /// which is nothing to other threads, and to release the interpreter would add 0.2 to them.
    const KEEP_INTERPRETER: usize = 64;

    /// Partners may take any time, so they play without the interpreter.
    fn keeps_interpreter(&self) -> bool {
        let rows = self.batch.num_envs() * self.batch.observers();
        rows <= Self::KEEP_INTERPRETER && self.batch.options().partners.is_empty()
    }

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
        let keeps_interpreter = self.keeps_interpreter();
        let held = claims.hold(&mut self.apart, keeps_interpreter)?;
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

impl Batch {
    pub(super) fn new_from(batch: batch::Batch) -> Batch {
        Batch {
            games: Mutex::new(Games::new(batch)),
            pools: Pools::default(),
            last: RowPool::default(),
        }
    }

    pub(super) fn new_arrays<'py>(&self, py: Python<'py>) -> PyResult<Arrays<'py>> {
        self.pools.take(py, &lock(&self.games)?.batch)
    }

    pub(super) fn step_given<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        given: Given<'_, 'py>,
    ) -> PyResult<()> {
        let actions = integer_array("actions", actions)?;
        let mut games = lock(&self.games)?;
        games.read_actions(&actions)?;
        games.write(py, given, Games::step)
    }

    pub(super) fn reset_given<'py>(
        &self,
        py: Python<'py>,
        seed: Option<&Bound<'py, PyAny>>,
        reset_mask: Option<&Bound<'py, PyAny>>,
        given: Given<'_, 'py>,
    ) -> PyResult<()> {
        let num_envs = lock(&self.games)?.batch.num_envs();
        let seeds = GivenSeeds::read(seed)?;
        let chosen = reset_mask.map(|given| mask("reset_mask", given, num_envs)).transpose()?;
        lock(&self.games)?.write(py, given, |games, outputs| {
            games.batch.reset(seeds.as_seeds(), chosen.as_deref(), outputs)
        })
    }

    /// The games that ended in the last step, and their last observations.
    pub(super) fn last_rows<'py>(&self, py: Python<'py>) -> PyResult<(Vec<usize>, LastRows<'py>)> {
        let batch = &mut lock(&self.games)?.batch;
        let games: Vec<usize> = batch.finished().collect();
        let rows = self.last.take(py, batch, games.len())?;
        let mut buffer = Observations::alone(batch, &rows.array, games.len())?;
        batch.final_observations(buffer.slice(&Claims::none().hold(&mut Claims::none(), true)?))?;
        Ok((games, rows))
    }
}
