//! Many games at once: stepping, autoreset, seeding, the caller's buffers, threads.

mod buffers;
mod expand;
mod game;
mod options;
mod record;
mod simd;
mod threads;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use buffers::{BufferError, ObservationBuffer, Outputs};
pub use options::{AutoresetMode, Dtype, IllegalAction, Observers, Options, UnknownOption};
pub use record::RecordError;
pub use simd::{SIMD_VARIABLE, Simd, SimdError};
pub use threads::{MAX_THREADS, ThreadsError};

use crate::encode::{self, Encoder, Layout};
use crate::rules::{ActionSet, EpisodeSeed, Position, Variant, View};
use game::Game;
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
    games: Vec<Game>,
    seed: u64,
    /// Whether the games are as they were first dealt, so that the first reset keeps them.
    fresh: bool,
    finished: Vec<Vec<Finished>>,
    pool: Pool,
}

/// What all games and all threads of a batch read.
#[derive(Debug)]
pub(crate) struct Shared {
    pub variant: Arc<Variant>,
    pub layout: Layout,
    pub options: Options,
}

/// A game that ended in the last step and was dealt anew in the same step.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Finished {
    game: usize,
    position: Position,
    /// The copies left in its deck, by which a stored position is checked.
    deck_left: u64,
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
        let layout = options.encoder.layout(&variant);
        let pool = Pool::new(options.num_threads)?;
        let deal = |game| Game::new(&variant, EpisodeSeed { seed, game, episode: 0 });
        let mut games = reserve(num_envs)?;
        games.extend((0..num_envs as u64).map(deal));
        let shared = Shared { variant, layout, options };
        Ok(Batch { shared, games, seed, fresh: true, finished: Vec::new(), pool })
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

    /// Number of games.
    #[must_use]
    pub const fn num_envs(&self) -> usize {
        self.games.len()
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
    pub fn position(&self, game: usize) -> Option<&Position> {
        self.games.get(game).map(Game::position)
    }

    /// The episode that each game is in, from 0.
    pub fn episodes(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.games.iter().map(|game| game.seed().episode)
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
        for (index, game) in self.games.iter_mut().enumerate() {
            if keep || reset_mask.is_some_and(|mask| !mask[index]) {
                continue;
            }
            let seed = match seeds {
                Seeds::Continue => game.seed().next(),
                Seeds::Batch(seed) => EpisodeSeed { seed, game: index as u64, episode: 0 },
                Seeds::Each(seeds) => EpisodeSeed { seed: seeds[index], game: 0, episode: 0 },
            };
            *game = Game::new(&self.shared.variant, seed);
        }
        self.fresh = false;
        self.finished.clear();
        self.observe(outputs)
    }

    /// Writes the outputs of all games as they stand, as after a reset: no rewards, and nobody
    /// terminated.
    ///
    /// # Errors
    /// [`BatchError`] for buffers that do not fit.
    pub fn observe(&self, outputs: Outputs<'_>) -> Result<(), BatchError> {
        outputs.check(&self.shared, self.num_envs())?;
        let shared = &self.shared;
        let chunks = threads::chunks_ref(&self.games, outputs, shared, self.pool.threads());
        self.pool.for_each(chunks, |(games, mut outputs)| {
            let mut row = vec![0; shared.layout.words()];
            for (index, game) in games.iter().enumerate() {
                outputs.write(index, shared, game, &game::Outcome::default(), &mut row);
            }
        });
        Ok(())
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
        let (shared, threads) = (&self.shared, self.pool.threads());
        self.finished.resize_with(threads, Vec::new);
        let chunks = threads::chunks_mut(&mut self.games, actions, outputs, shared, threads);
        let chunks = chunks.into_iter().zip(&mut self.finished).collect();
        self.pool.for_each(chunks, |(mut chunk, finished)| {
            finished.clear();
            let mut row = vec![0; shared.layout.words()];
            for (index, game) in chunk.games.iter_mut().enumerate() {
                let outcome = game.step(shared, chunk.actions[index]);
                if let Some((position, deck_left)) = outcome.replaced {
                    finished.push(Finished { game: chunk.first + index, position, deck_left });
                }
                chunk.outputs.write(index, shared, game, &outcome, &mut row);
            }
        });
        Ok(())
    }

    fn check_actions(&self, actions: &[i64]) -> Result<(), IllegalActions> {
        let options = &self.shared.options;
        let refused = |game: &Game, action: i64| {
            if game.is_over() {
                options.autoreset_mode == AutoresetMode::Disabled
            } else {
                options.illegal_action == IllegalAction::Raise && !game.is_legal(action)
            }
        };
        let mut pairs = self.games.iter().zip(actions);
        if !pairs.any(|(game, &action)| refused(game, action)) {
            return Ok(());
        }
        let mut error = IllegalActions { rows: vec![], actions: vec![], legal: vec![] };
        for (row, (game, &action)) in self.games.iter().zip(actions).enumerate() {
            if refused(game, action) {
                error.rows.push(row);
                error.actions.push(action);
                error.legal.push(game.legal());
            }
        }
        Err(error)
    }

    /// The games that ended in the last step and were dealt anew in it (autoreset `SameStep`), in
    /// ascending order.
    pub fn finished(&self) -> impl Iterator<Item = usize> + '_ {
        self.finished.iter().flatten().map(|finished| finished.game)
    }

    /// Writes the last observations of the [`Batch::finished`] games, a row group each.
    ///
    /// # Errors
    /// [`BatchError`] for a buffer that does not fit.
    pub fn final_observations(&self, mut buffer: ObservationBuffer<'_>) -> Result<(), BatchError> {
        let shared = &self.shared;
        let count = self.finished().count();
        buffer.check(shared, count)?;
        let mut row = vec![0; shared.layout.words()];
        for (index, finished) in self.finished.iter().flatten().enumerate() {
            buffer.write(index, shared, &finished.position, &mut row);
        }
        Ok(())
    }

    /// A batch in the same state, which goes on by itself.
    ///
    /// # Errors
    /// [`BatchError`] when its threads cannot be started.
    pub fn duplicate(&self) -> Result<Batch, BatchError> {
        let Shared { variant, layout, options } = &self.shared;
        let mut games = reserve(self.games.len())?;
        games.extend_from_slice(&self.games);
        let shared =
            Shared { variant: variant.clone(), layout: layout.clone(), options: options.clone() };
        Ok(Batch {
            pool: Pool::new(options.num_threads)?,
            shared,
            games,
            seed: self.seed,
            fresh: self.fresh,
            finished: self.finished.clone(),
        })
    }
}

/// Room for so many games, which may be more than there is memory for.
fn reserve(num_envs: usize) -> Result<Vec<Game>, BatchError> {
    let mut games = Vec::new();
    match games.try_reserve_exact(num_envs) {
        Ok(()) => Ok(games),
        Err(source) => Err(BatchError::Memory { num_envs, source }),
    }
}

impl Shared {
    pub(crate) fn observers(&self) -> usize {
        match self.options.observers {
            Observers::Current => 1,
            Observers::All => self.variant.players().into(),
        }
    }

    pub(crate) fn row_length(&self) -> usize {
        match self.options.dtype {
            Dtype::Bits => 8 * self.layout.words(),
            Dtype::Uint8 | Dtype::Float16 | Dtype::Float32 => self.layout.len(),
        }
    }

    fn observe(&self, position: &Position, observer: usize, words: &mut [u64]) {
        let encoder: &dyn Encoder = self.options.encoder;
        encode::encode_into(encoder, View::new(&self.variant, position, observer), words);
    }
}
