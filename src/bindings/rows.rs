//! The last observations of games that ended: rows that are handed out one by one.

use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::PySlice;

use super::errors::ArrayError;
use super::outputs::{Observations, is_row, new_observations};
use super::pool::Pooled;
use crate::batch::Batch;

/// An array with a view of each of its rows, which hold it: making the views anew would cost more
/// than writing the rows.
struct Rows {
    array: Pooled,
    views: Vec<Pooled>,
    /// How many of the views were handed out last; nobody holds any other.
    lent: usize,
}

/// The rows of one step.
pub(super) struct LastRows<'py> {
    pub array: Bound<'py, PyAny>,
    pub views: Vec<Bound<'py, PyAny>>,
}

impl Rows {
    fn new(py: Python<'_>, batch: &Batch, games: usize) -> PyResult<Rows> {
        let array = new_observations(py, batch, games)?;
        let views: PyResult<_> = array.try_iter()?.map(|view| Ok(Pooled::new(view?))).collect();
        Ok(Rows { views: views?, array: Pooled::new(array), lent: 0 })
    }

    /// Whether nobody else holds the array or a view of it. A view that stands for other memory no
    /// longer holds the array, so such rows are never free.
    fn is_free(&self) -> bool {
        self.array.holders() == 1 + self.views.len() as isize
            && self.views[..self.lent].iter().all(|view| view.holders() == 1)
    }

    /// The first rows, unless whoever held them has changed what they are.
    fn lend<'py>(&mut self, py: Python<'py>, batch: &Batch, games: usize) -> Option<LastRows<'py>> {
        let array = self.array.get(py)?;
        Observations::alone(batch, array, self.views.len()).ok()?;
        let view = |view: &Pooled| view.get(py).filter(|view| is_row(batch, view)).cloned();
        let views = self.views[..games].iter().map(view).collect::<Option<_>>()?;
        let array = array.get_item(PySlice::new(py, 0, games as isize, 1)).ok()?;
        self.lent = games;
        Some(LastRows { array, views })
    }
}

/// Rows that were handed out: they are used again once nobody else holds any of them.
#[derive(Default)]
pub(super) struct RowPool(Mutex<Vec<Rows>>);

impl RowPool {
    const CAPACITY: usize = 4;
    /// Who keeps one row keeps all of its array: it is at most so many times as large as was asked.
    const MOST_ROWS: usize = 8;

    /// Rows for so many games, used again or new.
    pub fn take<'py>(
        &self,
        py: Python<'py>,
        batch: &Batch,
        games: usize,
    ) -> PyResult<LastRows<'py>> {
        if let Some(rows) = self.free(py, batch, games) {
            return Ok(rows);
        }
        let mut new = Rows::new(py, batch, games.next_power_of_two().min(batch.num_envs()))?;
        let rows = new.lend(py, batch, games);
        match self.0.try_lock() {
            Ok(mut pool) if pool.len() < Self::CAPACITY => pool.push(new),
            _ => {}
        }
        rows.ok_or_else(|| ArrayError::new_err("there is no memory for the last observations"))
    }

    fn free<'py>(&self, py: Python<'py>, batch: &Batch, games: usize) -> Option<LastRows<'py>> {
        // As in an `ArrayPool`: what is dropped is dropped when the pool is no longer locked.
        let mut dropped = Vec::new();
        let mut pool = self.0.try_lock().ok()?;
        let sizes = games..=Self::MOST_ROWS * games.max(1);
        while let Some(index) = pool.iter().position(Rows::is_free) {
            let fitting = Some(&mut pool[index]).filter(|rows| sizes.contains(&rows.views.len()));
            if let Some(rows) = fitting.and_then(|rows| rows.lend(py, batch, games)) {
                return Some(rows);
            }
            dropped.push(pool.swap_remove(index));
        }
        None
    }
}
