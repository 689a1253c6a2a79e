//! How the threads of a batch share its games.
//!
//! Each thread has a share of the games, always the same, which its caches know. It takes half of
//! what is left of it at a time, from the front; a thread that has nothing left takes from the back
//! of the shares of those who are late. So none waits long for another that the system holds up, and
//! where none is, no game leaves the caches that know it.

use std::mem::take;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{hint, thread};

use super::pool::Pool;
use crate::batch::chunk::{Chunk, GROUP};
use crate::batch::config::BatchConfig;
use crate::batch::kernel::lanes::LANES;
use crate::batch::kernel::layout::BlockLayout;
use crate::batch::scratch::Scratch;

/// The fewest games that are taken at a time, unless fewer are left.
const FEWEST: usize = GROUP * LANES;

/// How long a thread that is through waits for the others before it takes from what they have left,
/// unless that will take them longer. Taken games cost both more, in this step and the next, than
/// they take: their memory wanders from one processor to the other and back.
const PATIENCE: Duration = Duration::from_micros(4);

/// How long others are waited for to come and look at their games. Who has not come by then sleeps,
/// and for who has not come there is no patience either.
const ARRIVAL: Duration = Duration::from_micros(1);

/// How often a thread looks whether the others have looked at their games, which takes them a
/// microsecond, before it lets others run.
const MAX_TURNS: usize = 1000;

/// The games of a batch, a share for each thread.
#[derive(Debug, Default)]
pub struct Partition<'a>(Vec<Share<'a>>);

#[derive(Debug)]
#[repr(align(128))]
struct Share<'a> {
    left: Mutex<Chunk<'a>>,
    /// How many games are left, for those who only want to know.
    count: AtomicUsize,
    /// How many there were.
    size: usize,
    /// Whether the thread that it belongs to has come.
    has_come: AtomicBool,
    /// Whether somebody looks at the games before any is touched, or has looked.
    claimed: AtomicBool,
    own: Mutex<&'a mut Scratch>,
}

impl<'a> Partition<'a> {
    /// Deals out the games; the memory is that of other shares.
    pub fn deal(
        memory: Partition<'static>,
        mut games: Chunk<'a>,
        threads: &'a mut [Scratch],
        layout: BlockLayout,
        config: &BatchConfig,
    ) -> Partition<'a> {
        let mut shares = memory.emptied();
        for own in threads {
            let share = games.take_front(layout.share_games, config);
            games.blocks =
                take(&mut games.blocks).split_off_mut(BlockLayout::GAP..).unwrap_or_default();
            shares.0.push(Share::new(share, own));
        }
        shares
    }

    /// The same memory without games.
    pub fn emptied<'b>(mut self) -> Partition<'b> {
        self.0.clear();
        // Such an iterator is collected where it stands, without asking for memory.
        Partition(self.0.into_iter().map(|_| unreachable!("there are none")).collect())
    }

    /// Does the work for all games, on all threads, unless some are refused: then nothing is done
    /// for any, and `false` comes back.
    pub fn work(
        &self,
        pool: &mut Pool,
        config: &BatchConfig,
        refuses: Option<impl Fn(&Chunk<'a>) -> bool + Sync>,
        run: impl Fn(&mut Chunk<'a>, &mut Scratch) + Sync,
    ) -> bool {
        // Moved, so that all lies together: the other threads have to get it from this processor.
        let (shares, look) = (&self.0[..], &Look::default());
        pool.run(move |thread| {
            let share = &shares[thread];
            share.has_come.store(true, Ordering::Relaxed);
            let mut own = locked(&share.own);
            let mut first = None;
            if let Some(refuses) = &refuses {
                // Taken at once, while it is at hand; but not touched before all have looked.
                first = look.look_at(share, refuses, |left| left.take_front_half(config));
                if !look.finds_none(shares, refuses) {
                    return;
                }
            }
            let begin = Instant::now();
            while let Some(mut games) = first.take().or_else(|| share.take_front(config)) {
                run(&mut games, &mut own);
            }
            let late = Late::new(share.size, begin);
            while let Some(mut games) = take_from_others(shares, thread, late, config) {
                run(&mut games, &mut own);
            }
        });
        !look.found.load(Ordering::Relaxed)
    }
}

/// Waits until another thread is late, and takes from what it has left; or until nothing is.
fn take_from_others<'a>(
    shares: &[Share<'a>],
    thread: usize,
    late: Late,
    config: &BatchConfig,
) -> Option<Chunk<'a>> {
    loop {
        let is_late = Instant::now() >= late.from;
        let mut is_any_left = false;
        for offset in 1..shares.len() {
            let share = &shares[(thread + offset) % shares.len()];
            let count = share.count.load(Ordering::Relaxed);
            let is_late = is_late || count > late.games || !share.has_come.load(Ordering::Relaxed);
            if is_late && count > 0 {
                let games = share.take_back(config);
                if games.is_some() {
                    return games;
                }
            }
            is_any_left |= count > 0;
        }
        if !is_any_left {
            return None;
        }
        hint::spin_loop();
    }
}

/// When a thread that is through finds that another is late.
#[derive(Clone, Copy)]
struct Late {
    /// From so many games on.
    games: usize,
    /// From this time on, with any games.
    from: Instant,
}

impl Late {
    /// For a thread that has played so many games since it began.
    fn new(games: usize, begin: Instant) -> Late {
        let now = Instant::now();
        let took = (now - begin).as_nanos().max(1);
        let games = PATIENCE.as_nanos() * games as u128 / took;
        Late { games: games.try_into().unwrap_or(usize::MAX), from: now + PATIENCE }
    }
}

impl<'a> Share<'a> {
    fn new(games: Chunk<'a>, own: &'a mut Scratch) -> Share<'a> {
        let size = games.len();
        Share {
            left: Mutex::new(games),
            count: size.into(),
            size,
            has_come: false.into(),
            claimed: false.into(),
            own: Mutex::new(own),
        }
    }

    fn take_front(&self, config: &BatchConfig) -> Option<Chunk<'a>> {
        self.take(|left| left.take_front_half(config))
    }

    fn take_back(&self, config: &BatchConfig) -> Option<Chunk<'a>> {
        self.take(|left| left.take_back_half(config))
    }

    fn take(&self, take: impl FnOnce(&mut Chunk<'a>) -> Chunk<'a>) -> Option<Chunk<'a>> {
        let mut left = locked(&self.left);
        let taken = take(&mut left);
        self.count.store(left.len(), Ordering::Relaxed);
        (!taken.is_empty()).then_some(taken)
    }
}

/// A look at all shares before any game is touched, by all threads together.
#[derive(Default)]
#[repr(align(128))]
struct Look {
    looked_at: AtomicUsize,
    found: AtomicBool,
}

impl Look {
    /// Waits until all shares have been looked at, and does it for those who do not come.
    fn finds_none<'a>(&self, shares: &[Share<'a>], refuses: impl Fn(&Chunk<'a>) -> bool) -> bool {
        let begin = Instant::now();
        let mut turns = 0;
        let mut has_waited = false;
        while self.looked_at.load(Ordering::Acquire) < shares.len() {
            turns += 1;
            if !has_waited && begin.elapsed() > ARRIVAL {
                for share in shares {
                    self.look_at(share, &refuses, |_| Chunk::default());
                }
                has_waited = true;
            } else if turns < MAX_TURNS {
                hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
        !self.found.load(Ordering::Relaxed)
    }

    /// Looks at a share, unless somebody does or did, and takes something from it.
    fn look_at<'a>(
        &self,
        share: &Share<'a>,
        refuses: impl Fn(&Chunk<'a>) -> bool,
        take: impl FnOnce(&mut Chunk<'a>) -> Chunk<'a>,
    ) -> Option<Chunk<'a>> {
        if share.claimed.swap(true, Ordering::Relaxed) {
            return None;
        }
        share.take(|left| {
            // Should this panic, nobody may wait for it, and no game be touched.
            let looked = Looked(self);
            if refuses(left) {
                self.found.store(true, Ordering::Relaxed);
            }
            drop(looked);
            take(left)
        })
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
    fn take_front(&mut self, games: usize, config: &BatchConfig) -> Chunk<'a> {
        let games = games.min(self.len());
        let (front, back) = take(self).split_at(games, config);
        *self = back;
        front
    }

    fn take_front_half(&mut self, config: &BatchConfig) -> Chunk<'a> {
        self.take_front(half(self.len()), config)
    }

    fn take_back_half(&mut self, config: &BatchConfig) -> Chunk<'a> {
        let games = self.len();
        let keep = if games > FEWEST { half(games) } else { 0 };
        let (front, back) = take(self).split_at(keep, config);
        *self = front;
        back
    }
}

/// Half of so many games, in whole groups.
fn half(games: usize) -> usize {
    games.div_ceil(2).next_multiple_of(FEWEST)
}
