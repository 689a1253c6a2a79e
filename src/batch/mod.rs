//! Many games at once: stepping, autoreset, seeding, the caller's buffers, threads.

mod block;
mod buffers;
mod chunk;
mod deal;
mod expand;
mod finished;
mod game;
mod kernel;
mod lanes;
mod observe;
mod options;
mod plan;
mod record;
mod rows;
mod simd;
mod threads;
mod turn;
mod unpack;

use std::slice::{ChunksMut, IterMut};
use std::sync::{Arc, Mutex, PoisonError};

use thiserror::Error;

pub use buffers::{BufferError, ObservationBuffer, Outputs};
pub use expand::Element;
pub use options::{AutoresetMode, Dtype, IllegalAction, Observers, Options, UnknownOption};
pub use record::RecordError;
pub use simd::{SIMD_VARIABLE, Simd, SimdError};
pub use threads::{MAX_THREADS, ThreadsError};
pub use unpack::{packed_length, unpack_bits};

use crate::encode::{CanonicalKnowledge, Layout};
use crate::rules::{ActionSet, EpisodeSeed, Position, Variant};
use block::{COUNTERS, LEGAL, ending};
use chunk::{Chunk, Work};
use finished::Finished;
use game::Game;
use lanes::{LANES, Word};
use plan::Plan;
use rows::Scratch;
use threads::Pool;

/// Many games of one variant that are stepped together.
///
/// Game `i` in its episode `k` of a batch seeded with `s` is a function of `(s, i, k)` and the
/// variant alone, whatever the batch size and the number of threads.
///
/// ```
/// use std::sync::Arc;
/// use starmine::batch::{Batch, Options, Outputs};
/// use starmine::rules::{Parameters, Variant};
///
/// let variant = Arc::new(Variant::new(Parameters::default())?);
/// let mut batch = Batch::new(variant, 64, 0, Options::default())?;
/// let mut rewards = vec![0.0; 64];
/// // Slot 0 of every hand is played: action 5 of the two-player base game.
/// batch.step(&[5; 64], Outputs { reward: Some(&mut rewards), ..Outputs::default() })?;
/// assert!(rewards.iter().all(|&reward| reward == 0.0 || reward == 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Batch {
    shared: Shared,
    /// The games, eight in a block.
    blocks: Vec<Word>,
    /// Which game and episode each one is.
    seeds: Vec<EpisodeSeed>,
    /// Steps so far, modulo the number of players.
    step: usize,
    seed: u64,
    /// Whether the games are as they were first dealt, so that the first reset keeps them.
    fresh: bool,
    threads: Vec<PerThread>,
    pool: Pool,
}

/// Bytes of a step's observations from which they are written past the caches. Measured: below, the
/// next reader finds them in a cache; above, they would only push other data out.
const STREAM_FROM: usize = 32 << 20;

/// What each thread has for itself.
#[derive(Clone, Debug)]
struct PerThread {
    scratch: Scratch,
    finished: Finished,
}

/// What all games and all threads of a batch read.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub variant: Arc<Variant>,
    pub layout: Layout,
    pub options: Options,
    pub(self) plan: Plan,
    pub(self) simd: Simd,
    /// Whether observations are written past the caches, which would not hold them.
    pub(self) streams: bool,
    /// How the encoder says what hints have said, where it is a canonical one.
    pub canonical: Option<CanonicalKnowledge>,
}

/// The games, a part for each thread.
struct Chunks<'a> {
    first: usize,
    /// Games of a part.
    games: usize,
    blocks: ChunksMut<'a, Word>,
    seeds: ChunksMut<'a, EpisodeSeed>,
    threads: IterMut<'a, PerThread>,
    outputs: Outputs<'a>,
    shared: &'a Shared,
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Chunk<'a>;

    fn next(&mut self) -> Option<Chunk<'a>> {
        let (blocks, seeds) = (self.blocks.next()?, self.seeds.next()?);
        let PerThread { scratch, finished } = self.threads.next()?;
        let (outputs, rest) = std::mem::take(&mut self.outputs).split_at(seeds.len(), self.shared);
        let first = self.first;
        self.outputs = rest;
        self.first += self.games;
        Some(Chunk { first, blocks, seeds, scratch, finished, outputs })
    }
}

/// Seeds for a reset.
#[derive(Clone, Copy, Debug)]
pub enum Seeds<'a> {
    /// Go on with each game's next episode.
    Continue,
    /// Seed the batch: game `i` is game `i` of this seed.
    Batch(u64),
    /// Seed each game by itself: game `i` is game 0 of the `i`-th seed.
    Each(&'a [u64]),
}

/// Actions that the rules refuse; no game has moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IllegalActions {
    /// The games concerned.
    pub rows: Vec<usize>,
    /// The action of each.
    pub actions: Vec<i64>,
    /// What was legal in each; nothing in a game that is over.
    pub legal: Vec<ActionSet>,
}

impl std::fmt::Display for IllegalActions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 5;
        write!(formatter, "{} illegal action(s), no game has moved: ", self.rows.len())?;
        for index in 0..self.rows.len().min(SHOWN) {
            let (row, action) = (self.rows[index], self.actions[index]);
            let legal: Vec<usize> = self.legal[index].iter().collect();
            let separator = if index == 0 { "" } else { "; " };
            if legal.is_empty() {
                write!(
                    formatter,
                    "{separator}actions[{row}]={action}, but game {row} is over: reset it first"
                )?;
            } else {
                write!(formatter, "{separator}actions[{row}]={action}, expected one of {legal:?}")?;
            }
        }
        let more = self.rows.len().saturating_sub(SHOWN);
        if more > 0 { write!(formatter, "; and {more} more") } else { Ok(()) }
    }
}

impl std::error::Error for IllegalActions {}

/// Why a batch refused a call; it is unchanged then.
#[derive(Debug, Error)]
pub enum BatchError {
    /// Actions that the rules refuse.
    #[error(transparent)]
    IllegalActions(#[from] IllegalActions),
    /// A buffer or an array of the wrong length.
    #[error(transparent)]
    Buffer(#[from] BufferError),
    /// The threads could not be started.
    #[error(transparent)]
    Threads(#[from] ThreadsError),
    /// Instructions were asked for that this processor does not have.
    #[error(transparent)]
    Simd(#[from] SimdError),
    /// No games at all, or too many.
    #[error("num_envs={0} is not allowed: expected 1 to {max}", max = u32::MAX)]
    NumEnvs(usize),
    /// Not enough memory for so many games.
    #[error("num_envs={num_envs}: {source}")]
    Memory {
        /// The number of games.
        num_envs: usize,
        /// What the allocator says.
        source: std::collections::TryReserveError,
    },
    /// A mask without any game in it.
    #[error("reset_mask is all False: expected at least one game to reset")]
    EmptyResetMask,
}

impl Batch {
    /// Deals episode 0 of every game.
    ///
    /// # Errors
    /// [`BatchError`] for zero games or threads that cannot be started.
    pub fn new(
        variant: Arc<Variant>,
        num_envs: usize,
        seed: u64,
        options: Options,
    ) -> Result<Batch, BatchError> {
        if num_envs == 0 || u32::try_from(num_envs).is_err() {
            return Err(BatchError::NumEnvs(num_envs));
        }
        let mut shared = Shared::new(variant, options)?;
        shared.streams = num_envs * shared.observers() * shared.row_bytes() >= STREAM_FROM;
        let size = shared.plan.sizes.block_words();
        let mut blocks = reserve(num_envs.div_ceil(LANES) * size, num_envs)?;
        let mut seeds = reserve(num_envs, num_envs)?;
        blocks.resize(num_envs.div_ceil(LANES) * size, Word::default());
        blocks.chunks_mut(size).for_each(chunk::idle_block);
        seeds.extend((0..num_envs as u64).map(|game| EpisodeSeed { seed, game, episode: 0 }));
        let pool = Pool::new(shared.options.num_threads)?;
        let per_thread = threads::games_per_thread(num_envs, pool.threads());
        let threads = PerThread {
            scratch: Scratch::new(&shared.layout),
            finished: Finished::with_capacity(per_thread, size),
        };
        let threads = vec![threads; pool.threads()];
        let mut batch = Batch { shared, blocks, seeds, step: 0, seed, fresh: true, threads, pool };
        (0..num_envs).for_each(|game| batch.deal(game, batch.seeds[game]));
        Ok(batch)
    }

    /// The rules that are played.
    #[must_use]
    pub const fn variant(&self) -> &Arc<Variant> {
        &self.shared.variant
    }

    /// The named sections of an observation.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.shared.layout
    }

    /// The settings.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.shared.options
    }

    /// The instructions that it runs on.
    #[must_use]
    pub const fn simd(&self) -> Simd {
        self.shared.simd
    }

    /// Number of games.
    #[must_use]
    pub const fn num_envs(&self) -> usize {
        self.seeds.len()
    }

    /// The seed that the batch was last seeded with.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Observation rows of each game: 1, or one for each seat.
    #[must_use]
    pub fn observers(&self) -> usize {
        self.shared.observers()
    }

    /// Elements of one observation row in the chosen dtype: the layout's length, or for bits the
    /// bytes of whole 64-bit words.
    #[must_use]
    pub fn row_length(&self) -> usize {
        self.shared.row_length()
    }

    /// The table of one game.
    #[must_use]
    pub fn position(&self, game: usize) -> Option<Position> {
        (game < self.num_envs()).then(|| self.take(game).position)
    }

    /// The episode that each game is in, from 0.
    pub fn episodes(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.seeds.iter().map(|seed| seed.episode)
    }

    fn block(&self, game: usize) -> &[Word] {
        let size = self.shared.plan.sizes.block_words();
        &self.blocks[game / LANES * size..][..size]
    }

    /// A copy of one game.
    fn take(&self, game: usize) -> Game {
        let Shared { plan, variant, .. } = &self.shared;
        plan.sizes.take(self.block(game), game % LANES, self.step, variant, self.seeds[game])
    }

    fn put(&mut self, index: usize, game: &Game) {
        let Shared { plan, variant, .. } = &self.shared;
        let size = plan.sizes.block_words();
        let block = &mut self.blocks[index / LANES * size..][..size];
        plan.sizes.put(block, index % LANES, self.step, variant, game);
        self.seeds[index] = game.seed;
    }

    fn deal(&mut self, index: usize, seed: EpisodeSeed) {
        let game = Game::new(&self.shared.variant, seed);
        self.put(index, &game);
    }

    fn legal(&self, game: usize) -> ActionSet {
        let [low, high] = LEGAL.map(|word| self.block(game)[word].0[game % LANES]);
        ActionSet(u128::from(high) << 64 | u128::from(low))
    }

    fn is_over(&self, game: usize) -> bool {
        ending(self.block(game)[COUNTERS].0[game % LANES]).is_some()
    }

    /// Deals games anew: all, or those in the mask, and writes the outputs of all games.
    ///
    /// # Errors
    /// [`BatchError`] for a mask, seeds or buffers that do not fit; nothing has changed then.
    pub fn reset(
        &mut self,
        seeds: Seeds<'_>,
        reset_mask: Option<&[bool]>,
        outputs: Outputs<'_>,
    ) -> Result<(), BatchError> {
        let num_envs = self.num_envs();
        if let Some(mask) = reset_mask {
            buffers::check_length("reset_mask", mask.len(), num_envs)?;
            if !mask.contains(&true) {
                return Err(BatchError::EmptyResetMask);
            }
        }
        if let Seeds::Each(seeds) = seeds {
            buffers::check_length("seed", seeds.len(), num_envs)?;
        }
        outputs.check(&self.shared, num_envs)?;
        if let Seeds::Batch(seed) = seeds {
            self.seed = seed;
        }
        let keep = self.fresh && matches!(seeds, Seeds::Continue);
        for index in 0..num_envs {
            if keep || reset_mask.is_some_and(|mask| !mask[index]) {
                continue;
            }
            let seed = match seeds {
                Seeds::Continue => self.seeds[index].next(),
                Seeds::Batch(seed) => EpisodeSeed { seed, game: index as u64, episode: 0 },
                Seeds::Each(seeds) => EpisodeSeed { seed: seeds[index], game: 0, episode: 0 },
            };
            self.deal(index, seed);
        }
        self.fresh = false;
        self.threads.iter_mut().for_each(|thread| thread.finished.clear());
        self.run(None, outputs);
        Ok(())
    }

    /// Writes the outputs of all games as they stand, as after a reset: no rewards, and nobody
    /// terminated.
    ///
    /// # Errors
    /// [`BatchError`] for buffers that do not fit.
    pub fn observe(&mut self, outputs: Outputs<'_>) -> Result<(), BatchError> {
        outputs.check(&self.shared, self.num_envs())?;
        self.run(None, outputs);
        Ok(())
    }

    /// Plays the actions, where there are any, and writes the outputs.
    fn run(&mut self, actions: Option<&[i64]>, outputs: Outputs<'_>) {
        let Batch { shared, blocks, seeds, step, threads, pool, .. } = self;
        let work = Work { shared, step: *step, actions };
        let size = shared.plan.sizes.block_words();
        let games = threads::games_per_thread(seeds.len(), pool.threads());
        let chunks = Chunks {
            first: 0,
            games,
            blocks: blocks.chunks_mut(games / LANES * size),
            seeds: seeds.chunks_mut(games),
            threads: threads.iter_mut(),
            outputs,
            shared,
        };
        let chunks = Mutex::new(chunks);
        let next = || chunks.lock().unwrap_or_else(PoisonError::into_inner).next();
        pool.run(|| {
            while let Some(mut chunk) = next() {
                work.run(&mut chunk);
            }
        });
    }

    /// Plays one turn in every game.
    ///
    /// # Errors
    /// [`BatchError`] for actions or buffers that do not fit; no game has moved then.
    pub fn step(&mut self, actions: &[i64], outputs: Outputs<'_>) -> Result<(), BatchError> {
        buffers::check_length("actions", actions.len(), self.num_envs())?;
        outputs.check(&self.shared, self.num_envs())?;
        self.check_actions(actions)?;
        self.fresh = false;
        self.threads.iter_mut().for_each(|thread| thread.finished.clear());
        self.run(Some(actions), outputs);
        self.step = (self.step + 1) % self.shared.plan.sizes.players;
        Ok(())
    }

    fn check_actions(&self, actions: &[i64]) -> Result<(), IllegalActions> {
        if !self.has_refused(actions) {
            return Ok(());
        }
        let mut error = IllegalActions { rows: vec![], actions: vec![], legal: vec![] };
        for (row, &action) in actions.iter().enumerate() {
            if self.refuses(row, action) {
                error.rows.push(row);
                error.actions.push(action);
                error.legal.push(self.legal(row));
            }
        }
        Err(error)
    }

    /// Whether any action is refused: [`Batch::refuses`] for all games, quickly.
    fn has_refused(&self, actions: &[i64]) -> bool {
        let options = &self.shared.options;
        let waits = options.autoreset_mode == AutoresetMode::Disabled;
        let raises = options.illegal_action == IllegalAction::Raise;
        let work = Work { shared: &self.shared, step: self.step, actions: None };
        raises && work.has_illegal(&self.blocks, actions)
            || waits && (0..self.num_envs()).any(|game| self.is_over(game))
    }

    fn refuses(&self, game: usize, action: i64) -> bool {
        let options = &self.shared.options;
        if self.is_over(game) {
            return options.autoreset_mode == AutoresetMode::Disabled;
        }
        let legal = usize::try_from(action).is_ok_and(|action| self.legal(game).contains(action));
        options.illegal_action == IllegalAction::Raise && !legal
    }

    /// The games that ended in the last step and were dealt anew in it (autoreset `SameStep`), in
    /// ascending order.
    pub fn finished(&self) -> impl Iterator<Item = usize> + '_ {
        self.threads.iter().flat_map(|thread| thread.finished.games().iter().copied())
    }

    /// Writes the last observations of the [`Batch::finished`] games, a row group each.
    ///
    /// # Errors
    /// [`BatchError`] for a buffer that does not fit.
    pub fn final_observations(&mut self, buffer: ObservationBuffer<'_>) -> Result<(), BatchError> {
        let count = self.finished().count();
        buffer.check(&self.shared, count)?;
        let size = self.shared.plan.sizes.block_words();
        let mut blocks = vec![Word::default(); count.div_ceil(LANES) * size];
        blocks.chunks_mut(size).for_each(chunk::idle_block);
        let finished = self.threads.iter().map(|thread| &thread.finished);
        let ended = finished.flat_map(|all| (0..all.len()).map(move |index| (all, index)));
        for (row, (all, index)) in ended.enumerate() {
            all.restore(index, &mut blocks[row / LANES * size..][..size], row % LANES);
        }
        let work = Work { shared: &self.shared, step: self.step, actions: None };
        work.run(&mut Chunk {
            first: 0,
            blocks: &mut blocks,
            seeds: &mut vec![EpisodeSeed::default(); count],
            scratch: &mut self.threads[0].scratch,
            finished: &mut Finished::default(),
            outputs: Outputs { obs: Some(buffer), ..Outputs::default() },
        });
        Ok(())
    }

    /// A batch in the same state, which goes on by itself.
    ///
    /// # Errors
    /// [`BatchError`] when its threads cannot be started.
    pub fn duplicate(&self) -> Result<Batch, BatchError> {
        let num_envs = self.num_envs();
        let mut blocks = reserve(self.blocks.len(), num_envs)?;
        blocks.extend_from_slice(&self.blocks);
        let mut seeds = reserve(num_envs, num_envs)?;
        seeds.extend_from_slice(&self.seeds);
        Ok(Batch {
            pool: Pool::new(self.shared.options.num_threads)?,
            shared: self.shared.clone(),
            blocks,
            seeds,
            step: self.step,
            seed: self.seed,
            fresh: self.fresh,
            threads: self.threads.clone(),
        })
    }
}

/// Room for so many games, which may be more than there is memory for.
fn reserve<T>(length: usize, num_envs: usize) -> Result<Vec<T>, BatchError> {
    let mut elements = Vec::new();
    match elements.try_reserve_exact(length) {
        Ok(()) => Ok(elements),
        Err(source) => Err(BatchError::Memory { num_envs, source }),
    }
}

impl Shared {
    fn new(variant: Arc<Variant>, options: Options) -> Result<Shared, SimdError> {
        Ok(Shared {
            layout: options.encoder.layout(&variant),
            plan: Plan::new(&variant),
            simd: options.simd.map_or_else(Simd::chosen, Simd::require)?,
            canonical: options.encoder.canonical_knowledge(),
            streams: false,
            variant,
            options,
        })
    }

    #[inline(always)]
    pub(crate) fn observers(&self) -> usize {
        match self.options.observers {
            Observers::Current => 1,
            Observers::All => self.variant.players().into(),
        }
    }

    /// Bytes of one observation row.
    fn row_bytes(&self) -> usize {
        let element = match self.options.dtype {
            Dtype::Float32 => 4,
            Dtype::Float16 => 2,
            Dtype::Uint8 | Dtype::Bits => 1,
        };
        self.row_length() * element
    }

    #[inline(always)]
    pub(crate) fn row_length(&self) -> usize {
        match self.options.dtype {
            Dtype::Bits => 8 * self.layout.words(),
            Dtype::Uint8 | Dtype::Float16 | Dtype::Float32 => self.layout.len(),
        }
    }
}
