//! A map over ranges of indices on several threads, which a flag can stop.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use crate::threads::{is_set, share};

/// The flag that ends a call early was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StopError;

impl StopError {
    /// The error if the flag is set.
    pub fn if_set(stop: &AtomicBool) -> Result<(), StopError> {
        if is_set(stop) { Err(StopError) } else { Ok(()) }
    }
}

/// Computes `of(worker, range)` for ranges of `size` indices below a count, and joins the results
/// in their order, whatever the number of threads. Each thread has a worker, which has no effect on
/// the results.
///
/// # Errors
/// [`StopError`] if `stop` was set.
pub(super) fn map<W: Send, T: Send>(
    workers: &mut [W],
    count: usize,
    size: usize,
    stop: &AtomicBool,
    of: impl Fn(&mut W, Range<usize>) -> Vec<T> + Sync,
) -> Result<Vec<T>, StopError> {
    let mut found: Vec<Vec<T>> = Vec::new();
    found.resize_with(count.div_ceil(size), Vec::new);
    let ranges = (0..count).step_by(size).map(|first| first..count.min(first + size));
    share(ranges.zip(&mut found), workers, |worker, (range, found)| {
        *found = of(worker, range);
        !is_set(stop)
    });
    StopError::if_set(stop)?;
    Ok(found.into_iter().flatten().collect())
}
