//! How the threads of a batch share its games.
//!
//! Each thread has a share of the games, always the same, which its caches know. It takes half of
//! what is left of it at a time, from the front; a thread that has nothing left takes from the back
//! of the others' shares. So none waits long for another that the system holds up.

use std::collections::TryReserveError;
use std::mem::take;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{hint, thread};

use super::chunk::{Chunk, GROUP};
use super::encoded::Encoded;
use super::finished::Finished;
use super::lanes::{LANES, Word};
use super::shared::Shared;
use super::threads::{MAX_THREADS, Pool};

/// The fewest games that are taken at a time, unless fewer are left.
const FEWEST: usize = GROUP * LANES;

/// How often a thread looks whether the others have looked at their games, which takes them a
/// microsecond, before it lets others run.
const MAX_TURNS: usize = 1000;

/// What each thread has for itself, in lines of memory of its own.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct PerThread {
    pub encoded: Encoded,
    pub finished: Finished,
}

impl PerThread {
    pub fn new(shared: &Shared, places: Places) -> Result<PerThread, TryReserveError> {
        let finished = Finished::with_room(places.each, places.size)?;
        Ok(PerThread { encoded: Encoded::new(&shared.layout, shared.observers()), finished })
    }

    pub fn duplicate(&self) -> Result<PerThread, TryReserveError> {
        Ok(PerThread { encoded: self.encoded.clone(), finished: self.finished.duplicate()? })
    }
}

/// Where the games of each share are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    /// How many games each share has, but for the last: whole blocks.
    each: usize,
    /// Words of a block.
    size: usize,
}

impl Places {
    /// Words between two shares. A processor fetches ahead of what it is asked for, here beyond the
    /// end of its share; its neighbour then has to get those words back before it can write them.
    const GAP: usize = (32 << 10) / size_of::<Word>();

    pub fn new(games: usize, threads: usize, size: usize) -> Places {
        Places { each: games.div_ceil(threads).next_multiple_of(LANES), size }
    }

    /// Words for so many games.
    pub fn words(self, games: usize) -> usize {
        self.first_word(games - 1) + self.size
    }

    /// The block that a game is in.
    pub fn block(self, game: usize) -> Range<usize> {
        let first = self.first_word(game);
        first..first + self.size
    }

    fn first_word(self, game: usize) -> usize {
        game / LANES * self.size + game / self.each * Places::GAP
    }
}

/// The games of a batch, a share for each thread.
#[derive(Debug, Default)]
pub(super) struct Shares<'a>(Vec<Share<'a>>);

#[derive(Debug)]
#[repr(align(128))]
struct Share<'a> {
    left: Mutex<Chunk<'a>>,
    own: Mutex<&'a mut PerThread>,
}

impl<'a> Shares<'a> {
    /// Deals out the games; the memory is that of other shares.
    pub fn deal(
        memory: Shares<'static>,
        mut games: Chunk<'a>,
        threads: &'a mut [PerThread],
        places: Places,
        shared: &Shared,
    ) -> Shares<'a> {
        let mut shares = memory.emptied();
        for own in threads {
            let share = games.take_front(places.each, shared);
            games.blocks = take(&mut games.blocks).split_off_mut(Places::GAP..).unwrap_or_default();
            shares.0.push(Share { left: Mutex::new(share), own: Mutex::new(own) });
        }
        shares
    }

    /// The same memory without games.
    pub fn emptied<'b>(mut self) -> Shares<'b> {
        self.0.clear();
        // Such an iterator is collected where it stands, without asking for memory.
        Shares(self.0.into_iter().map(|_| unreachable!("there are none")).collect())
    }

    /// Does the work for all games, on all threads, unless some are refused: then nothing is done
    /// for any, and `false` comes back.
    pub fn work(
        &self,
        pool: &mut Pool,
        shared: &Shared,
        refuses: Option<impl Fn(&Chunk<'a>) -> bool + Sync>,
        run: impl Fn(&mut Chunk<'a>, &mut PerThread) + Sync,
    ) -> bool {
        let look = Look::default();
        pool.run(|thread| {
            if refuses.as_ref().is_none_or(|refuses| look.finds_none(&self.0, thread, refuses)) {
                self.work_as(thread, shared, &run);
            }
        });
        !look.found.into_inner()
    }

    /// Does a thread's part of the work: with its own games, then with what others have left.
    fn work_as(
        &self,
        thread: usize,
        shared: &Shared,
        run: impl Fn(&mut Chunk<'a>, &mut PerThread),
    ) {
        let mut own = locked(&self.0[thread].own);
        for offset in 0..self.0.len() {
            let share = &self.0[(thread + offset) % self.0.len()];
            loop {
                let mut left = locked(&share.left);
                let mut games = match offset {
                    0 => left.take_front_half(shared),
                    _ => left.take_back_half(shared),
                };
                drop(left);
                if games.is_empty() {
                    break;
                }
                run(&mut games, &mut own);
            }
        }
    }
}

/// A look at all shares before any game is touched, by all threads together.
#[derive(Default)]
struct Look {
    /// The shares that somebody looks at, or has looked at.
    claimed: [AtomicU64; MAX_THREADS / 64],
    looked_at: AtomicUsize,
    found: AtomicBool,
}

impl Look {
    /// Helps to look, and waits for the others.
    fn finds_none<'a>(
        &self,
        shares: &[Share<'a>],
        thread: usize,
        refuses: impl Fn(&Chunk<'a>) -> bool,
    ) -> bool {
        for offset in 0..shares.len() {
            let index = (thread + offset) % shares.len();
            if self.claims(index) {
                // Should this panic, nobody may wait for it, and no game be touched.
                let looked = Looked(self);
                if refuses(&locked(&shares[index].left)) {
                    self.found.store(true, Ordering::Relaxed);
                }
                drop(looked);
            }
        }
        let mut turns = 0;
        while self.looked_at.load(Ordering::Acquire) < shares.len() {
            turns += 1;
            if turns < MAX_TURNS {
                hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
        !self.found.load(Ordering::Relaxed)
    }

    fn claims(&self, share: usize) -> bool {
        let bit = 1 << (share % 64);
        self.claimed[share / 64].fetch_or(bit, Ordering::Relaxed) & bit == 0
    }
}

/// Says of a share that it has been looked at.
struct Looked<'a>(&'a Look);

impl Drop for Looked<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.found.store(true, Ordering::Relaxed);
        }
        self.0.looked_at.fetch_add(1, Ordering::Release);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Chunk<'a> {
    fn take_front(&mut self, games: usize, shared: &Shared) -> Chunk<'a> {
        let games = games.min(self.len());
        let (front, back) = take(self).split_at(games, shared);
        *self = back;
        front
    }

    fn take_front_half(&mut self, shared: &Shared) -> Chunk<'a> {
        self.take_front(half(self.len()), shared)
    }

    fn take_back_half(&mut self, shared: &Shared) -> Chunk<'a> {
        let games = self.len();
        let keep = if games > FEWEST { half(games) } else { 0 };
        let (front, back) = take(self).split_at(keep, shared);
        *self = front;
        back
    }
}

/// Half of so many games, in whole groups.
fn half(games: usize) -> usize {
    games.div_ceil(2).next_multiple_of(FEWEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_stand_apart_where_another_share_begins() {
        for (games, threads) in [(1, 1), (8, 3), (17, 2), (100, 4), (1000, 7), (1024, 1024)] {
            let places = Places::new(games, threads, 5);
            let mut end = 0;
            for first in (0..games).step_by(LANES) {
                let block = places.block(first);
                let begins = first > 0 && first % places.each == 0;
                assert_eq!(block.start - end, if begins { Places::GAP } else { 0 });
                assert_eq!(places.block((first + LANES).min(games) - 1), block);
                end = block.end;
            }
            assert_eq!(places.words(games), end);
            assert!(games.div_ceil(places.each) <= threads);
        }
    }
}
