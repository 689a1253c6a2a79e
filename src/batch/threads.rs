//! Games in chunks, a chunk for each thread.

use rayon::{ThreadPool, ThreadPoolBuilder};
use thiserror::Error;

use super::lanes::LANES;

/// The most threads that one batch may ask for.
pub const MAX_THREADS: usize = 1024;

/// The threads of a batch could not be started.
#[derive(Debug, Error)]
pub enum ThreadsError {
    /// Not a sensible number.
    #[error("num_threads={0} is not allowed: expected 1 to {MAX_THREADS}")]
    Count(usize),
    /// The system refused.
    #[error("the threads of the batch could not be started: {0}")]
    Start(#[from] rayon::ThreadPoolBuildError),
}

/// The threads of a batch; none at all where the caller's own is enough.
#[derive(Debug)]
pub(super) struct Pool {
    pool: Option<ThreadPool>,
    threads: usize,
    /// The process that started them: after a fork the child has none of its parent's threads.
    process: u32,
}

impl Pool {
    pub fn new(threads: usize) -> Result<Pool, ThreadsError> {
        if threads == 0 || threads > MAX_THREADS {
            return Err(ThreadsError::Count(threads));
        }
        let pool = if threads == 1 { None } else { Some(start(threads)?) };
        Ok(Pool { pool, threads, process: std::process::id() })
    }

    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Does the work for each chunk, on the pool's threads where there are several.
    pub fn for_each<T: Send>(&self, chunks: Vec<T>, work: impl Fn(T) + Send + Sync) {
        match &self.pool {
            Some(pool) if chunks.len() > 1 && self.process == std::process::id() => {
                pool.scope(|scope| {
                    for chunk in chunks {
                        scope.spawn(|_| work(chunk));
                    }
                });
            }
            _ => chunks.into_iter().for_each(work),
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // Waiting for threads that a fork left behind would never end.
            std::mem::forget(self.pool.take());
        }
    }
}

fn start(threads: usize) -> Result<ThreadPool, rayon::ThreadPoolBuildError> {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("starmine-{index}"))
        .build()
}

/// How many games each thread has, but for the last: whole blocks.
pub(super) fn games_per_thread(games: usize, threads: usize) -> usize {
    games.div_ceil(threads).next_multiple_of(LANES)
}
