//! How the threads of a batch divide its games.

use std::mem::take;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::pool::Pool;
use crate::batch::chunk::{Chunk, GROUP};
use crate::batch::config::BatchConfig;
use crate::batch::kernel::lanes::LANES;
use crate::batch::scratch::Scratch;
use crate::batch::step::Step;

/// The number of pieces in a large share.
const PIECES: usize = 8;

/// The games of a batch in one share for each thread, always the same games, so that they stay in
/// the caches of the thread's core.
///
/// A thread takes pieces of its own share until nothing is left of it, then pieces of the others'
/// shares. So a step waits for a straggler no longer than for one piece.
#[derive(Debug, Default)]
pub struct Partition<'a>(Vec<Share<'a>>);

/// The share of one thread, in cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
struct Share<'a> {
    left: Mutex<Chunk<'a>>,
    scratch: Mutex<&'a mut Scratch>,
    /// Whether a thread checks the games, or has checked them.
    checked: AtomicBool,
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
            let (scratch, checked) = (Mutex::new(scratch), AtomicBool::new(false));
            partition.0.push(Share { left, scratch, checked });
        }
        partition
    }

    /// The same memory without games.
    pub fn emptied<'b>(mut self) -> Partition<'b> {
        self.0.clear();
        // `collect` reuses the memory of such an iterator.
        Partition(self.0.into_iter().map(|_| unreachable!("there are none")).collect())
    }

    /// Whether the condition holds for any share. Each share is checked by its own thread, unless
    /// that comes late.
    pub fn any(&self, pool: &mut Pool, condition: impl Fn(&Chunk<'a>) -> bool + Sync) -> bool {
        let found = AtomicBool::new(false);
        pool.run(|thread| {
            for share in self.shares_from(thread) {
                let is_mine = !share.checked.swap(true, Ordering::Relaxed);
                if is_mine && condition(&locked(&share.left)) {
                    found.store(true, Ordering::Relaxed);
                }
            }
        });
        found.into_inner()
    }

    /// Runs the step for all games, on all threads of the pool.
    pub fn run(
        &self,
        pool: &mut Pool,
        step: Step<'_>,
        run: impl Fn(&mut Chunk<'a>, &mut Scratch) + Sync,
    ) {
        let size = locked(&self.0[0].left).len();
        let piece = (size / PIECES).next_multiple_of(GROUP * LANES).max(GROUP * LANES);
        pool.run(|thread| {
            let mut scratch = locked(&self.0[thread].scratch);
            for share in self.shares_from(thread) {
                while let Some(mut games) = share.take(piece, step) {
                    run(&mut games, &mut scratch);
                }
            }
        });
    }

    /// The shares in the order in which a thread works on them: its own first.
    fn shares_from(&self, thread: usize) -> impl Iterator<Item = &Share<'a>> {
        let (before, own_and_after) = self.0.split_at(thread);
        own_and_after.iter().chain(before)
    }
}

impl<'a> Share<'a> {
    /// Takes a piece of so many games from the end where the step begins.
    fn take(&self, piece: usize, step: Step<'_>) -> Option<Chunk<'a>> {
        let mut left = locked(&self.left);
        let games = if step.backwards {
            // The last piece may be shorter: all others are whole blocks.
            let rest = left.len().saturating_sub(1) / piece * piece;
            left.take_back(rest, step.config)
        } else {
            left.take_front(piece, step.config)
        };
        (!games.is_empty()).then_some(games)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Chunk<'a> {
    /// Takes so many games, or all that there are.
    fn take_front(&mut self, games: usize, config: &BatchConfig) -> Chunk<'a> {
        let games = games.min(self.len());
        let (front, back) = take(self).split_at(games, config);
        *self = back;
        front
    }

    /// Leaves so many games.
    fn take_back(&mut self, rest: usize, config: &BatchConfig) -> Chunk<'a> {
        let (front, back) = take(self).split_at(rest, config);
        *self = front;
        back
    }
}
