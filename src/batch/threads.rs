//! Threads that wait for work and share it with the thread that brings it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use thiserror::Error;

use super::lanes::LANES;

/// The most threads that one batch may ask for.
pub const MAX_THREADS: usize = 1024;

/// How long a thread looks for the next step before it sleeps. To be woken takes about as long as
/// a thousand games.
const AWAKE: Duration = Duration::from_micros(60);

/// The threads of a batch could not be started.
#[derive(Debug, Error)]
pub enum ThreadsError {
    /// Not a sensible number.
    #[error("num_threads={0} is not allowed: expected 1 to {MAX_THREADS}")]
    Count(usize),
    /// The system refused.
    #[error("the threads of the batch could not be started: {0}")]
    Start(#[from] std::io::Error),
}

/// Work that any number of threads may do at the same time, each taking from it what is left.
#[derive(Clone, Copy)]
struct Job(*const (dyn Fn() + Sync));

// SAFETY: what it points to may be called from any thread.
unsafe impl Send for Job {}

/// What the threads of a pool and their caller share.
#[derive(Default)]
struct Board {
    state: Mutex<State>,
    /// Counts the jobs, for threads that look without the lock.
    posted: AtomicU64,
    /// Threads inside the job.
    inside: AtomicUsize,
    wake: Condvar,
    left: Condvar,
}

#[derive(Default)]
struct State {
    job: Option<Job>,
    panicked: bool,
    stop: bool,
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a job after the one that was seen last, and goes inside.
    fn enter(&self, seen: &mut u64) -> Option<Job> {
        let start = Instant::now();
        while self.posted.load(Ordering::Acquire) == *seen && start.elapsed() < AWAKE {
            std::hint::spin_loop();
        }
        let mut state = self.lock();
        loop {
            if state.stop {
                return None;
            }
            let posted = self.posted.load(Ordering::Acquire);
            if let Some(job) = state.job.filter(|_| posted != *seen) {
                *seen = posted;
                self.inside.fetch_add(1, Ordering::AcqRel);
                return Some(job);
            }
            *seen = posted;
            state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn leave(&self, panicked: bool) {
        let mut state = self.lock();
        state.panicked |= panicked;
        self.inside.fetch_sub(1, Ordering::AcqRel);
        self.left.notify_all();
    }

    /// What each thread does until it is stopped.
    fn serve(&self) {
        let mut seen = 0;
        while let Some(Job(job)) = self.enter(&mut seen) {
            // SAFETY: whoever posted the job keeps it until nobody is inside.
            let done = catch_unwind(AssertUnwindSafe(|| unsafe { (*job)() }));
            self.leave(done.is_err());
        }
    }

    /// Does a job together with the threads that come in time.
    fn share(&self, job: &(dyn Fn() + Sync)) {
        let pointer: *const (dyn Fn() + Sync + '_) = job;
        // SAFETY: only the lifetime changes, and below the job is withdrawn and everybody has left
        // it before this function returns.
        let erased: *const (dyn Fn() + Sync + 'static) = unsafe { std::mem::transmute(pointer) };
        let mut state = self.lock();
        state.job = Some(Job(erased));
        self.posted.fetch_add(1, Ordering::AcqRel);
        drop(state);
        self.wake.notify_all();
        let done = catch_unwind(AssertUnwindSafe(job));
        let mut state = self.lock();
        state.job = None;
        while self.inside.load(Ordering::Acquire) > 0 {
            drop(state);
            self.await_empty();
            state = self.lock();
        }
        let panicked = std::mem::take(&mut state.panicked);
        drop(state);
        if let Err(panic) = done {
            resume_unwind(panic);
        }
        assert!(!panicked, "a thread of the batch panicked");
    }

    /// Looks for a while, then sleeps until somebody leaves.
    fn await_empty(&self) {
        let start = Instant::now();
        while self.inside.load(Ordering::Acquire) > 0 {
            if start.elapsed() < AWAKE {
                std::hint::spin_loop();
                continue;
            }
            let state = self.lock();
            if self.inside.load(Ordering::Acquire) > 0 {
                drop(self.left.wait(state).unwrap_or_else(PoisonError::into_inner));
            }
        }
    }
}

/// The threads of a batch beside the caller's own.
pub(super) struct Pool {
    board: Arc<Board>,
    handles: Vec<JoinHandle<()>>,
    /// The process that started them: after a fork the child has none of its parent's threads.
    process: u32,
}

impl Pool {
    pub fn new(threads: usize) -> Result<Pool, ThreadsError> {
        if threads == 0 || threads > MAX_THREADS {
            return Err(ThreadsError::Count(threads));
        }
        let board = Arc::new(Board::default());
        let mut pool = Pool { board, handles: Vec::new(), process: std::process::id() };
        for index in 1..threads {
            let board = pool.board.clone();
            let builder = thread::Builder::new().name(format!("starmine-{index}"));
            pool.handles.push(builder.spawn(move || board.serve())?);
        }
        Ok(pool)
    }

    /// How many there are, the caller's own included.
    pub fn threads(&self) -> usize {
        self.handles.len() + 1
    }

    /// Does a job on all threads: each takes what is left of it, and returns when nothing is.
    pub fn run(&self, job: impl Fn() + Sync) {
        if self.handles.is_empty() || self.process != std::process::id() {
            job();
        } else {
            self.board.share(&job);
        }
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Pool").field("threads", &self.threads()).finish_non_exhaustive()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let handles = std::mem::take(&mut self.handles);
        if handles.is_empty() {
            return;
        }
        if self.process != std::process::id() {
            // Waiting for threads that a fork left behind would never end.
            std::mem::forget(handles);
            return;
        }
        self.board.lock().stop = true;
        self.board.posted.fetch_add(1, Ordering::AcqRel);
        self.board.wake.notify_all();
        for handle in handles {
            // A thread catches the panics of its work, and has none of its own.
            let _ = handle.join();
        }
    }
}

/// How many games each thread has, but for the last: whole blocks.
pub(super) fn games_per_thread(games: usize, threads: usize) -> usize {
    games.div_ceil(threads).next_multiple_of(LANES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_a_job_is_done_once() {
        for threads in 1..5 {
            let pool = Pool::new(threads).unwrap();
            for round in 0..200 {
                let (next, sum) = (AtomicUsize::new(0), AtomicUsize::new(0));
                pool.run(|| {
                    loop {
                        let taken = next.fetch_add(1, Ordering::Relaxed);
                        if taken >= round {
                            break;
                        }
                        sum.fetch_add(taken, Ordering::Relaxed);
                    }
                });
                assert_eq!(sum.into_inner(), (0..round).sum::<usize>());
                if round % 50 == 0 {
                    thread::sleep(2 * AWAKE);
                }
            }
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_goes_on() {
        let pool = Pool::new(3).unwrap();
        let done = catch_unwind(AssertUnwindSafe(|| pool.run(|| panic!("expected"))));
        assert!(done.is_err());
        let count = AtomicUsize::new(0);
        pool.run(|| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        assert!(count.into_inner() >= 1);
    }
}
