//! How the threads of a batch divide its games.

use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{hint, thread};

use crate::batch::config::BatchConfig;
use crate::batch::kernel::block::block_words;
use crate::batch::kernel::lanes::LANES;
use crate::batch::step::chunk::{Chunk, GROUP_GAMES};
use crate::batch::step::scratch::Scratch;
use crate::threads::{Pool, locked, take_pieces, wait_until};

/// The number of pieces in a large share.
const PIECES: usize = 4;

/// How long a thread that has checked its own games waits for the others before it checks theirs.
const ARRIVAL: Duration = Duration::from_micros(1);

/// The games of a batch in one share for each thread, always the same games, so that they stay in
/// the caches of the thread's core.
#[derive(Debug, Default)]
pub struct Partition<'a>(Vec<Share<'a>>);

/// The share of one thread, in cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
struct Share<'a> {
    left: Mutex<Chunk<'a>>,
    scratch: Mutex<&'a mut Scratch>,
    /// Whether a thread checks the games, or has checked them.
    claimed: AtomicBool,
}

/// The games of each share but the last: whole blocks.
pub fn share_size(num_envs: usize, threads: usize) -> usize {
    num_envs.div_ceil(threads).next_multiple_of(LANES)
}

impl<'a> Partition<'a> {
    /// Divides the games among the threads. The memory is that of a former partition, so that a
    /// step allocates nothing.
    pub fn new(
        memory: Partition<'static>,
        mut games: Chunk<'a>,
        threads: &'a mut [Scratch],
        config: &BatchConfig,
    ) -> Partition<'a> {
        let mut partition = memory.emptied();
        let size = share_size(games.len(), threads.len());
        for scratch in threads {
            let left = Mutex::new(games.take_front(size, config));
            let (scratch, claimed) = (Mutex::new(scratch), AtomicBool::new(false));
            partition.0.push(Share { left, scratch, claimed });
        }
        partition
    }

    /// The same memory without games.
    pub fn emptied<'b>(mut self) -> Partition<'b> {
        self.0.clear();
        // `collect` reuses the memory of such an iterator.
        Partition(self.0.into_iter().map(|_| unreachable!("there are none")).collect())
    }

    /// Runs the step for all games, on all threads of the pool. If `refuses` holds for any share,
    /// no game changes and the result is `false`.
    pub fn run(
        &self,
        pool: &mut Pool,
        config: &BatchConfig,
        backwards: bool,
        refuses: Option<impl Fn(&BatchConfig, &Chunk<'_>) -> bool + Sync>,
        run: impl Fn(&BatchConfig, &mut Chunk<'_>, &mut Scratch) + Sync,
    ) -> bool {
        let size = locked(&self.0[0].left).len();
        let piece = (size / PIECES).next_multiple_of(GROUP_GAMES).max(GROUP_GAMES);
        let check = Check::default();
        pool.run(|thread| {
            if let Some(refuses) = &refuses
                && !check.passes(&self.0, thread, |games| refuses(config, games))
            {
                return;
            }
            let words = block_words(config.plan.constants);
            let take = |scratch: &mut Scratch, share: &Share<'a>, distance| {
                // The caller's thread has memory for all games that end, every other thread for its
                // share.
                let has_memory =
                    thread == 0 || distance == 0 || scratch.finished.reserve_more(piece, words);
                has_memory.then(|| share.take(piece, config, backwards)).flatten()
            };
            let scratch = &mut **locked(&self.0[thread].scratch);
            take_pieces(&self.0, thread, scratch, take, |scratch, mut games| {
                run(config, &mut games, scratch);
                true
            });
        });
        !check.refused.into_inner()
    }
}

/// The check of all shares, before any game is touched.
#[derive(Default)]
#[repr(align(128))]
struct Check {
    checked: AtomicUsize,
    refused: AtomicBool,
}

impl Check {
    /// Checks the share of a thread and waits for the other threads to check theirs. The share of a
    /// thread that does not come in time is checked by another.
    fn passes<'a>(
        &self,
        shares: &[Share<'a>],
        thread: usize,
        refuses: impl Fn(&Chunk<'a>) -> bool,
    ) -> bool {
        self.check(&shares[thread], &refuses);
        let is_done = || self.checked.load(Ordering::Acquire) == shares.len();
        let start = Instant::now();
        while !is_done() && start.elapsed() < ARRIVAL {
            hint::spin_loop();
        }
        shares.iter().for_each(|share| self.check(share, &refuses));
        wait_until(is_done, thread::yield_now);
        !self.refused.load(Ordering::Relaxed)
    }

    /// Checks a share, unless another thread does or did.
    fn check<'a>(&self, share: &Share<'a>, refuses: impl Fn(&Chunk<'a>) -> bool) {
        if share.claimed.swap(true, Ordering::Relaxed) {
            return;
        }
        // A check that panics refuses: no other thread waits for it, and no game is touched.
        let refused = catch_unwind(AssertUnwindSafe(|| refuses(&locked(&share.left))));
        self.refused.fetch_or(*refused.as_ref().unwrap_or(&true), Ordering::Relaxed);
        self.checked.fetch_add(1, Ordering::Release);
        if let Err(panic) = refused {
            resume_unwind(panic);
        }
    }
}

impl<'a> Share<'a> {
    /// Takes a piece of this many games from the end where the step begins.
    fn take(&self, piece: usize, config: &BatchConfig, backwards: bool) -> Option<Chunk<'a>> {
        let mut left = locked(&self.left);
        let games = if backwards {
            // The last piece may be shorter: all others are whole blocks.
            let rest = left.len().saturating_sub(1) / piece * piece;
            left.take_back(rest, config)
        } else {
            left.take_front(piece, config)
        };
        (!games.is_empty()).then_some(games)
    }
}

impl<'a> Chunk<'a> {
    /// Takes this many games, or all that there are.
    fn take_front(&mut self, games: usize, config: &BatchConfig) -> Chunk<'a> {
        let games = games.min(self.len());
        let (front, back) = take(self).split_at(games, config);
        *self = back;
        front
    }

    /// Leaves this many games.
    fn take_back(&mut self, rest: usize, config: &BatchConfig) -> Chunk<'a> {
        let (front, back) = take(self).split_at(rest, config);
        *self = front;
        back
    }
}
