//! A map over ranges of indices on several threads, which can be stopped.

use std::ops::Range;

use super::blueprint::Blueprint;
use super::error::SearchError;
use crate::threads::{for_each_piece, is_stopped};

/// Computes `work(worker, range)` for ranges of `size` indices below a count, and joins the results
/// in their order, whatever the number of threads. Each thread has a worker, which has no effect on
/// the results.
///
/// # Errors
/// [`SearchError::Stopped`] if the call is stopped.
pub(super) fn map<T: Send>(
    workers: &mut [Blueprint],
    count: usize,
    size: usize,
    work: impl Fn(&mut Blueprint, Range<usize>) -> Vec<T> + Sync,
) -> Result<Vec<T>, SearchError> {
    let mut results: Vec<Vec<T>> = Vec::new();
    results.resize_with(count.div_ceil(size), Vec::new);
    let ranges = (0..count).step_by(size).map(|first| first..count.min(first + size));
    for_each_piece(ranges.zip(&mut results), workers, |worker, (range, results)| {
        *results = work(worker, range);
        !is_stopped()
    });
    SearchError::check_stop()?;
    Ok(results.into_iter().flatten().collect())
}
