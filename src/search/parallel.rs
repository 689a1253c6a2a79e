//! A map over ranges of indices on several threads, which can be stopped.

use std::ops::Range;

use crate::threads::{is_stopped, share};

/// The call is to end, see [`is_stopped`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StopError;

impl StopError {
    /// The error if the call is to end.
    pub fn check() -> Result<(), StopError> {
        if is_stopped() { Err(StopError) } else { Ok(()) }
    }
}

/// Computes `of(worker, range)` for ranges of `size` indices below a count, and joins the results
/// in their order, whatever the number of threads. Each thread has a worker, which has no effect on
/// the results.
///
/// # Errors
/// [`StopError`] if the call is stopped.
pub(super) fn map<W: Send, T: Send>(
    workers: &mut [W],
    count: usize,
    size: usize,
    of: impl Fn(&mut W, Range<usize>) -> Vec<T> + Sync,
) -> Result<Vec<T>, StopError> {
    let mut found: Vec<Vec<T>> = Vec::new();
    found.resize_with(count.div_ceil(size), Vec::new);
    let ranges = (0..count).step_by(size).map(|first| first..count.min(first + size));
    share(ranges.zip(&mut found), workers, |worker, (range, found)| {
        *found = of(worker, range);
        !is_stopped()
    });
    StopError::check()?;
    Ok(found.into_iter().flatten().collect())
}
