//! Worker threads. They do each job together with the thread that posts it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::thread::{self, Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::stop::{Stop, stoppable};

/// The most threads of one call. Wherever a number of threads is given, the calling thread is included, 0 counts as
/// 1, and a number above this one counts as this one. Results do not depend on it, except under a time limit.
pub const MAX_THREADS: usize = 1024;

/// How long a thread spins before it sleeps. To wake a worker takes about as long as a step of a
/// thousand games.
const SPIN: Duration = Duration::from_micros(60);

/// How long the caller sleeps at a time while workers finish a job.
const NAP: Duration = Duration::from_micros(50);

/// A job, which is called with the index of the thread that runs it; the caller's is 0.
type Job<'a> = &'a (dyn Fn(usize) + Sync);

/// The state that the workers and their caller share, in cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Board {
    /// The number of jobs so far, whether the last one is open, and how many workers are inside:
    /// one word, so that a worker that enters learns in the same operation whether the job is
    /// open.
    state: AtomicU64,
    /// The open job.
    job: AtomicPtr<Job<'static>>,
    /// Whether the workers are to end. They look at it when the number of jobs changes.
    stop: AtomicBool,
    panicked: AtomicBool,
}

impl Board {
    /// The bits that count the workers inside.
    const INSIDE: u64 = 0x7fff;
    const OPEN: u64 = 0x8000;
    /// One more job.
    const JOB: u64 = 0x1_0000;

    /// What each worker does until it is stopped.
    fn serve(&self, thread: usize) {
        let mut seen = 0;
        loop {
            wait_until(|| self.state.load(Ordering::Acquire) / Board::JOB != seen, thread::park);
            if self.stop.load(Ordering::Acquire) {
                return;
            }
            seen = self.help(thread);
        }
    }

    /// Takes part in the last job if it is still open. Returns its number.
    fn help(&self, thread: usize) -> u64 {
        let state = self.state.fetch_add(1, Ordering::AcqRel);
        if state & Board::OPEN != 0 {
            let job = self.job.load(Ordering::Relaxed);
            // SAFETY: the caller stored the job before it opened it, and keeps it until it has
            // closed it and no worker is inside. This worker entered while it was open.
            let done = catch_unwind(AssertUnwindSafe(|| unsafe { (*job)(thread) }));
            if done.is_err() {
                self.panicked.store(true, Ordering::Relaxed);
            }
        }
        self.state.fetch_sub(1, Ordering::AcqRel);
        state / Board::JOB
    }

    /// Does a job together with the workers; for one caller at a time.
    fn run(&self, workers: &[JoinHandle<()>], job: Job<'_>) {
        self.job.store((&raw const job).cast_mut().cast(), Ordering::Relaxed);
        self.post(Board::JOB | Board::OPEN, workers);
        let done = catch_unwind(AssertUnwindSafe(|| job(0)));
        self.state.fetch_and(!Board::OPEN, Ordering::AcqRel);
        let is_empty = || self.state.load(Ordering::Acquire) & Board::INSIDE == 0;
        wait_until(is_empty, || thread::sleep(NAP));
        // Written only where it changes, since the workers spin on this cache line.
        let panicked = self.panicked.load(Ordering::Relaxed);
        if panicked {
            self.panicked.store(false, Ordering::Relaxed);
        }
        if let Err(panic) = done {
            resume_unwind(panic);
        }
        assert!(!panicked, "a worker thread panicked");
    }

    fn post(&self, job: u64, workers: &[JoinHandle<()>]) {
        self.state.fetch_add(job, Ordering::AcqRel);
        for worker in workers {
            worker.thread().unpark();
        }
    }
}

const _: () = assert!(MAX_THREADS as u64 <= Board::INSIDE);

/// Spins for a while, then sleeps again and again, until it is time.
fn wait_until(is_time: impl Fn() -> bool, sleep: impl Fn()) {
    let mut start = None;
    while !is_time() {
        if start.get_or_insert_with(Instant::now).elapsed() < SPIN {
            std::hint::spin_loop();
        } else {
            sleep();
        }
    }
}

/// The threads of a batch or of one call, in addition to the caller's own.
pub struct Pool {
    board: Arc<Board>,
    workers: Vec<JoinHandle<()>>,
    /// The process that started them: after a fork the child has none of its parent's threads.
    process: u32,
}

impl Pool {
    /// This many threads or [`MAX_THREADS`], the caller's own included.
    pub fn new(threads: usize) -> std::io::Result<Pool> {
        let mut pool = Pool::default();
        pool.start(threads)?;
        Ok(pool)
    }

    /// Starts threads until there are this many or [`MAX_THREADS`], the caller's own included. If
    /// one cannot be started, those before it stay.
    pub fn start(&mut self, threads: usize) -> std::io::Result<()> {
        for index in self.threads()..threads.min(MAX_THREADS) {
            let (board, name) = (self.board.clone(), format!("starmine-{index}"));
            self.workers.push(Builder::new().name(name).spawn(move || board.serve(index))?);
        }
        Ok(())
    }

    /// How many there are, the caller's own included.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Does a job on the caller's thread, and on all others that are awake in time. Some threads may never run it, so
    /// the job must hand out its work until none is left.
    pub fn run(&mut self, job: impl Fn(usize) + Sync) {
        if self.workers.is_empty() || self.process != std::process::id() {
            job(0);
        } else {
            let stop = Stop::current();
            let help = |thread| {
                if thread == 0 { job(0) } else { stoppable(stop.clone(), || job(thread)) }
            };
            self.board.run(&self.workers, &help);
        }
    }
}

impl Default for Pool {
    /// The caller's own thread alone.
    fn default() -> Pool {
        let board = Arc::new(Board::default());
        Pool { board, workers: Vec::new(), process: std::process::id() }
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Pool").field("threads", &self.threads()).finish_non_exhaustive()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let workers = std::mem::take(&mut self.workers);
        if self.process != std::process::id() {
            // Threads that a fork left behind cannot be joined.
            std::mem::forget(workers);
            return;
        }
        self.board.stop.store(true, Ordering::Release);
        self.board.post(Board::JOB, &workers);
        for worker in workers {
            // Cannot fail: a worker catches the panics of its jobs.
            let _ = worker.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn all_of_a_job_is_done_once() {
        for threads in 1..5 {
            let mut pool = Pool::new(threads).unwrap();
            for round in 0..200 {
                let (next, sum) = (AtomicUsize::new(0), AtomicUsize::new(0));
                pool.run(|_| {
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
                    thread::sleep(2 * SPIN);
                }
            }
        }
    }

    #[test]
    fn the_caller_waits_for_those_who_take_longer() {
        let mut pool = Pool::new(3).unwrap();
        let caller = thread::current().id();
        for round in 0..20 {
            let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
            pool.run(|_| {
                if thread::current().id() == caller {
                    // In some rounds the job is closed before a worker has entered it.
                    thread::sleep(SPIN * (round % 3));
                } else {
                    begun.fetch_add(1, Ordering::Relaxed);
                    thread::sleep(3 * SPIN);
                    ended.fetch_add(1, Ordering::Relaxed);
                }
            });
            assert_eq!(begun.into_inner(), ended.into_inner());
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_goes_on() {
        let mut pool = Pool::new(3).unwrap();
        let done = catch_unwind(AssertUnwindSafe(|| pool.run(|_| panic!("expected"))));
        assert!(done.is_err());
        let count = AtomicUsize::new(0);
        pool.run(|_| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        assert!(count.into_inner() >= 1);
    }
}
