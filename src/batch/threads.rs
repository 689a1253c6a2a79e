//! Games in chunks, a chunk for each thread.

use rayon::{ThreadPool, ThreadPoolBuilder};
use thiserror::Error;

use super::Shared;
use super::buffers::Outputs;
use super::game::Game;

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

/// The games of one thread with their actions and outputs.
pub(super) struct Chunk<'a> {
    /// The index of the first game.
    pub first: usize,
    pub games: &'a mut [Game],
    pub actions: &'a [i64],
    pub outputs: Outputs<'a>,
}

pub(super) fn chunks_mut<'a>(
    mut games: &'a mut [Game],
    mut actions: &'a [i64],
    mut outputs: Outputs<'a>,
    shared: &Shared,
    threads: usize,
) -> Vec<Chunk<'a>> {
    let size = games.len().div_ceil(threads);
    let mut chunks = Vec::with_capacity(threads);
    let mut first = 0;
    while !games.is_empty() {
        let count = size.min(games.len());
        let (own, rest) = games.split_at_mut(count);
        let (own_actions, rest_actions) = actions.split_at(count);
        let (own_outputs, rest_outputs) = outputs.split_at(count, shared);
        chunks.push(Chunk { first, games: own, actions: own_actions, outputs: own_outputs });
        (games, actions, outputs) = (rest, rest_actions, rest_outputs);
        first += count;
    }
    chunks
}

pub(super) fn chunks_ref<'a>(
    games: &'a [Game],
    mut outputs: Outputs<'a>,
    shared: &Shared,
    threads: usize,
) -> Vec<(&'a [Game], Outputs<'a>)> {
    let mut chunks = Vec::with_capacity(threads);
    for games in games.chunks(games.len().div_ceil(threads)) {
        let (own, rest) = outputs.split_at(games.len(), shared);
        chunks.push((games, own));
        outputs = rest;
    }
    chunks
}
