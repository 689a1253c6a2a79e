use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::bots::start_scoped;

/// Indices that a thread takes at a time.
const CHUNK: usize = 16;

/// Computes `of(room, index)` for all indices below a count, in their order, whatever the number of threads.
/// Each thread has a `room` of its own, which has no effect on the results. The indices of a thread that cannot be
/// started are computed by the others.
pub(super) fn map<R: Send, T: Send>(
    rooms: &mut [R],
    count: usize,
    of: impl Fn(&mut R, usize) -> T + Sync,
) -> Vec<T> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(count)));
    let work = |room: &mut R| loop {
        let first = next.fetch_add(CHUNK, Ordering::Relaxed);
        if first >= count {
            return;
        }
        let chunk: Vec<T> =
            (first..count.min(first + CHUNK)).map(|index| of(room, index)).collect();
        found.lock().expect("no thread panics").push((first, chunk));
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
    chunks.into_iter().flat_map(|(_, chunk)| chunk).collect()
}
