//! How the threads of a batch divide its games.

use std::mem::take;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::batch::config::BatchConfig;
use crate::batch::kernel::block::block_words;
use crate::batch::kernel::lanes::LANES;
use crate::batch::step::chunk::{Chunk, GROUP_GAMES};
use crate::batch::step::scratch::Scratch;
use crate::threads::{Pool, locked, take_pieces};

/// The number of pieces in a large share.
const PIECES_PER_SHARE: usize = 4;

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
        if let Some(refuses) = refuses {
            let refused = AtomicBool::new(false);
            pool.run(|thread| {
                let (before, own_and_after) = self.0.split_at(thread);
                for share in own_and_after.iter().chain(before) {
                    let is_claimed = share.claimed.swap(true, Ordering::Relaxed);
                    if !is_claimed && refuses(config, &locked(&share.left)) {
                        refused.store(true, Ordering::Relaxed);
                    }
                }
            });
            if refused.into_inner() {
                return false;
            }
        }
        let size = locked(&self.0[0].left).len();
        let piece = (size / PIECES_PER_SHARE).next_multiple_of(GROUP_GAMES).max(GROUP_GAMES);
        pool.run(|thread| {
            let words = block_words(config.kernel_variant.constants);
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
        true
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
    pub fn take_front(&mut self, games: usize, config: &BatchConfig) -> Chunk<'a> {
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
