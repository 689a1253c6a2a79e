//! How the threads of a job take pieces of work from each other.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::pool::Pool;

/// Works on the pieces of the thread's own share, then on what is left of the other shares, so that at
/// the end a job waits for one piece at most. `take` gets a share and its distance from the thread's
/// own; `work` returns whether to go on.
pub fn take_pieces<S, W, T>(
    shares: &[S],
    thread: usize,
    worker: &mut W,
    take: impl Fn(&mut W, &S, usize) -> Option<T>,
    work: impl Fn(&mut W, T) -> bool,
) {
    let (before, own_and_after) = shares.split_at(thread);
    for (distance, share) in own_and_after.iter().chain(before).enumerate() {
        while let Some(piece) = take(worker, share, distance) {
            if !work(worker, piece) {
                return;
            }
        }
    }
}

/// Calls `work` for each piece, on one thread for each worker, the calling thread included. A
/// thread works with its own worker, which must have no effect on the results. If a thread cannot
/// be started, the others take its pieces. Once `work` has returned `false`, its thread takes no
/// further pieces.
///
/// # Panics
/// If `work` panics on any thread.
pub fn for_each_piece<W: Send, T>(
    pieces: impl Iterator<Item = T> + Send,
    workers: &mut [W],
    work: impl Fn(&mut W, T) -> bool + Sync,
) {
    let mut pool = Pool::default();
    // The threads that have started are enough.
    let _ = pool.start(workers.len());
    pool.for_each_piece(pieces, workers, work);
}

impl Pool {
    /// As [`for_each_piece`], on the threads of the pool, of which there are no more than workers.
    pub fn for_each_piece<W: Send, T>(
        &mut self,
        pieces: impl Iterator<Item = T> + Send,
        workers: &mut [W],
        work: impl Fn(&mut W, T) -> bool + Sync,
    ) {
        let queue = [Mutex::new(pieces)];
        let workers: Vec<Mutex<&mut W>> = workers.iter_mut().map(Mutex::new).collect();
        self.run(|thread| {
            let worker = &mut **locked(&workers[thread]);
            take_pieces(&queue, 0, worker, |_, queue, _| locked(queue).next(), &work);
        });
    }
}

/// Locks a mutex, also after a panic: the job that panicked is reported as a whole.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn each_piece_is_worked_on_once() {
        for threads in 1..5 {
            let (mut counts, mut workers) = (vec![0; 100], vec![0; threads]);
            for_each_piece(counts.iter_mut(), &mut workers, |worker, count| {
                *count += 1;
                *worker += 1;
                true
            });
            assert_eq!(counts, [1; 100]);
            assert_eq!(workers.iter().sum::<usize>(), 100);
        }
    }

    #[test]
    fn a_thread_that_is_told_to_end_takes_no_further_pieces() {
        let mut counts = vec![0; 100];
        for_each_piece(counts.iter_mut(), &mut [(); 3], |(), count| {
            *count += 1;
            false
        });
        assert!((1..=3).contains(&counts.iter().sum::<usize>()));
    }

    #[test]
    fn a_panic_in_any_piece_reaches_the_caller() {
        for piece in 0..100 {
            let work = |(): &mut (), found| {
                assert_ne!(found, piece);
                true
            };
            let shared = || for_each_piece(0..100, &mut [(); 3], work);
            assert!(catch_unwind(AssertUnwindSafe(shared)).is_err());
        }
    }
}
