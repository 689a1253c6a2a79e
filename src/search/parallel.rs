//! A map over chunks of indices on several threads, which a flag can stop.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::bots::{is_set, start_scoped};

/// The flag that ends a call early was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stopped;

impl Stopped {
    /// The error if the flag is set.
    pub fn if_set(stop: &AtomicBool) -> Result<(), Stopped> {
        if is_set(stop) { Err(Stopped) } else { Ok(()) }
    }
}

/// Computes `of(room, range)` for chunks of the indices below a count, and joins the results in their order, whatever the
/// number of threads. Each thread has a `room` of its own, which has no effect on the results. The chunks of a thread that
/// cannot be started are computed by the others. Once `stop` is set, no thread begins a chunk; results are then missing.
pub(super) fn map<R: Send, T: Send>(
    rooms: &mut [R],
    count: usize,
    chunk: usize,
    stop: &AtomicBool,
    of: impl Fn(&mut R, Range<usize>) -> Vec<T> + Sync,
) -> Vec<T> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = |room: &mut R| loop {
        let first = next.fetch_add(chunk, Ordering::Relaxed);
        if first >= count || is_set(stop) {
            return;
        }
        let results = of(room, first..count.min(first + chunk));
        found.lock().expect("no thread panics").push((first, results));
    };
    let (own, others) = rooms.split_first_mut().expect("a room for each thread");
    thread::scope(|scope| {
        let others: Vec<_> =
            others.iter_mut().map_while(|room| start_scoped(scope, || work(room)).ok()).collect();
        work(own);
        drop(others);
    });
    let mut chunks = found.into_inner().expect("no thread panics");
    chunks.sort_unstable_by_key(|&(first, _)| first);
    chunks.into_iter().flat_map(|(_, results)| results).collect()
}
