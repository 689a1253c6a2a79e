//! Threads that wait for work and share it with the thread that brings it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use thiserror::Error;

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

/// Work that any number of threads may do at the same time, each taking from it what is left. It is
/// told which thread does it, the caller's being 0.
type Job<'a> = &'a (dyn Fn(usize) + Sync);

/// What stands alone in the memory that processors pass to each other, two lines at a time.
#[derive(Default)]
#[repr(align(128))]
struct Apart<T>(T);

/// What threads wait by.
///
/// Who is about to sleep says so, and then looks once more whether it should; who has something to
/// tell tells it first, and then looks for sleepers. All of this is sequentially consistent, so one
/// of the two sees the other, and a lock is only taken where somebody sleeps.
#[derive(Default)]
struct Bell {
    asleep: AtomicUsize,
    lock: Mutex<()>,
    wake: Condvar,
}

impl Bell {
    /// Waits until it is time, awake at first.
    fn wait(&self, is_time: impl Fn() -> bool) {
        let mut start = None;
        while !is_time() {
            if start.get_or_insert_with(Instant::now).elapsed() < AWAKE {
                std::hint::spin_loop();
                continue;
            }
            let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.asleep.fetch_add(1, Ordering::SeqCst);
            while !is_time() {
                guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
            }
            self.asleep.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Wakes those who sleep, after it has become time.
    fn ring(&self) {
        if self.asleep.load(Ordering::SeqCst) > 0 {
            // Who has said that it sleeps holds the lock until it does.
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.wake.notify_all();
        }
    }
}

/// A job that is posted for all threads.
#[derive(Default)]
struct Post {
    /// The number of jobs so far, above whether the last one is open to those who come, above how
    /// many threads are inside: in one word, so that to enter, to close and to see who is inside
    /// are each one turn with memory that wanders from processor to processor.
    state: AtomicU64,
    /// Where the caller keeps the job while it is open.
    job: AtomicPtr<Job<'static>>,
}

impl Post {
    /// The bits that count threads.
    const INSIDE: u64 = 0x7fff;
    const OPEN: u64 = 0x8000;
    /// One more job.
    const JOB: u64 = 0x1_0000;
}

const _: () = assert!(MAX_THREADS as u64 <= Post::INSIDE);

/// What the threads of a pool and their caller share.
#[derive(Default)]
struct Board {
    post: Apart<Post>,
    stop: AtomicBool,
    panicked: AtomicBool,
    work: Bell,
    left: Bell,
}

impl Board {
    fn state(&self) -> u64 {
        self.post.0.state.load(Ordering::SeqCst)
    }

    /// What each thread does until it is stopped.
    fn serve(&self, thread: usize) {
        let mut seen = 0;
        loop {
            self.work.wait(|| self.state() / Post::JOB != seen);
            if self.stop.load(Ordering::SeqCst) {
                return;
            }
            seen = self.help(thread);
        }
    }

    /// Does the job with the others, if it is still open. Returns its number.
    fn help(&self, thread: usize) -> u64 {
        let state = self.post.0.state.fetch_add(1, Ordering::SeqCst);
        if state & Post::OPEN != 0 {
            let job = self.post.0.job.load(Ordering::Relaxed);
            // SAFETY: this thread entered when the job was open, and the caller, who posted it
            // before it opened it, closes it and then waits for all that are inside.
            let done = catch_unwind(AssertUnwindSafe(|| unsafe { (*job)(thread) }));
            if done.is_err() {
                self.panicked.store(true, Ordering::SeqCst);
            }
        }
        self.post.0.state.fetch_sub(1, Ordering::SeqCst);
        self.left.ring();
        state / Post::JOB
    }

    /// Does a job together with the threads that come in time; for one caller at a time.
    fn share(&self, job: Job<'_>) {
        let Post { state, job: place } = &self.post.0;
        place.store((&raw const job).cast_mut().cast(), Ordering::Relaxed);
        state.fetch_add(Post::JOB | Post::OPEN, Ordering::SeqCst);
        self.work.ring();
        let done = catch_unwind(AssertUnwindSafe(|| job(0)));
        state.fetch_and(!Post::OPEN, Ordering::SeqCst);
        self.left.wait(|| self.state() & Post::INSIDE == 0);
        let panicked = self.panicked.load(Ordering::SeqCst);
        if panicked {
            // Only then, since the other threads read this line of memory.
            self.panicked.store(false, Ordering::SeqCst);
        }
        if let Err(panic) = done {
            resume_unwind(panic);
        }
        assert!(!panicked, "a thread of the batch panicked");
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        self.post.0.state.fetch_add(Post::JOB, Ordering::SeqCst);
        self.work.ring();
    }
}

/// The threads of a batch beside the caller's own.
pub struct Pool {
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
            pool.handles.push(builder.spawn(move || board.serve(index))?);
        }
        Ok(pool)
    }

    /// How many there are, the caller's own included.
    pub fn threads(&self) -> usize {
        self.handles.len() + 1
    }

    /// Does a job on all threads: each takes what is left of it, and returns when nothing is. It is
    /// told the thread's index; the caller's is 0.
    pub fn run(&mut self, job: impl Fn(usize) + Sync) {
        if self.handles.is_empty() || self.process != std::process::id() {
            job(0);
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
        self.board.stop();
        for handle in handles {
            // A thread catches the panics of its work, and has none of its own.
            let _ = handle.join();
        }
    }
}

#[cfg(test)]
mod tests {
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
                    thread::sleep(2 * AWAKE);
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
                    // In some rounds nobody may have come yet.
                    thread::sleep(AWAKE * (round % 3));
                } else {
                    begun.fetch_add(1, Ordering::Relaxed);
                    thread::sleep(3 * AWAKE);
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
