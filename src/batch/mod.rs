//! Many games that are stepped together: autoreset, seeding, output buffers, threads.
//!
//! Start with [`Batch`]. Its [`Options`] choose what is written and who else plays. A step writes
//! into [`Outputs`], the buffers of the caller. [`Partners`] hold the seats that the learner does not
//! play. A [`Replay`] steps through recorded games in place of new ones.

// From the bottom; each uses only those above it in this list, except that `Batch::new` and the steps call `methods`:
//
// - `kernel`: eight games in lockstep, by the rules
// - `error`, `tables` (partners, and a game with them), `options`, `config` (what follows from the options for
//   all games and threads), `outputs` (the table of outputs)
// - `games`: the games of a batch, of the kernel or with partners
// - `rows`: observations and extra outputs from the words of the kernel
// - `step`: a step of many games: its stages, and how threads share the games
// - this file: `Batch` with its steps
// - `methods`: its other methods; `snapshot`: a batch as bytes
// - `replay`: recorded games in the place of new ones

mod config;
mod error;
mod games;
mod kernel;
mod methods;
mod options;
mod outputs;
mod replay;
mod rows;
mod snapshot;
mod step;
mod tables;

use std::collections::TryReserveError;
use std::mem::{replace, take};
use std::sync::Arc;

pub use error::{
    BatchError, IllegalActionsError, NotStoredError, PartnersError, RefusedAction, WorldsError,
};
pub use methods::given_decks::GivenDecks;
pub(crate) use methods::reset::Dealt;
pub use methods::worlds::Worlds;
pub use options::{
    AutoresetMode, Dtype, ExtraOutput, IllegalAction, Observers, Options, default_threads,
};
pub(crate) use outputs::{Axis, for_each_output};
pub use outputs::{ObservationBuffer, Outputs};
pub use replay::Replay;
pub use step::seeding::Seeds;
pub use tables::partners::Partners;

pub use crate::bots::BotTurns;
use crate::buffers::{check_length, try_with_capacity};
use crate::rules::{EpisodeSeed, Variant};
pub use crate::threads::MAX_THREADS;
use crate::threads::Pool;
use config::BatchConfig;
use games::{Blocks, Games};
use kernel::draw_order::DrawOrder;
use kernel::game::Game;
use step::chunk::Chunk;
use step::partition::{Partition, share_size};
use step::scratch::Scratch;
use step::seeding::GameSeed;
use step::{Request, Step};

/// Many games of one variant that are stepped together.
///
/// Game `i` in its episode `k` of a batch seeded with `s` is a function of `(s, i, k)` and the
/// variant alone, whatever the batch size and the number of threads.
///
/// # Buffers
///
/// A call writes its results into [`Outputs`], the buffers of the caller. An output without a buffer is not
/// written. A buffer has the elements of all games, one game after another: a reward for each game, and for
/// each observation [`Batch::row_length`] elements. By default a game that ends is dealt anew in the same
/// step: `obs` then shows the new game, while `reward` and `terminated` tell of the old one.
///
/// ```
/// use starmine::batch::{Batch, Options, Outputs};
/// use starmine::rules::Variant;
///
/// let mut batch = Batch::new(Variant::default(), 64, 0, Options::default())?;
/// let mut obs = vec![0.0; 64 * batch.row_length()];
/// let (mut rewards, mut terminated) = ([0.0; 64], [false; 64]);
/// let first = |game| batch.legal_actions(game).iter().next().expect("a game goes on");
/// let actions: Vec<i64> = (0..64).map(|game| first(game).into()).collect();
/// let outputs = Outputs {
///     obs: Some(obs.as_mut_slice().into()),
///     reward: Some(rewards.as_mut_slice().into()),
///     terminated: Some(terminated.as_mut_slice().into()),
///     ..Outputs::default()
/// };
/// batch.step(&actions, outputs)?;
/// let row = &obs[..batch.row_length()]; // what the seat to act in game 0 sees
/// # assert!(row.iter().any(|&bit| bit == 1.0) && !terminated.contains(&true));
/// # assert!(rewards.iter().all(|&reward| reward == 0.0 || reward == 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Steps in three parts
///
/// [`Partners`] that are bots play inside [`Batch::step`]. The caller plays the turns of external partners, so
/// that a step has three parts: [`Batch::begin_step`] plays the learner's actions, [`Batch::play_partners`] plays turns
/// of partners until no game waits for one, and [`Batch::end_step`] writes the outputs.
///
/// ```
/// use starmine::batch::{Batch, BotTurns, Options, Outputs, Partners};
/// use starmine::players::PlayerSpec;
/// use starmine::rules::{Parameters, Seat, Variant};
///
/// let variant = Variant::new(Parameters { players: 3, ..Parameters::default() })?;
/// let [learner, external, bot] = [Seat::ALL[0], Seat::ALL[1], Seat::ALL[2]];
/// let partners = Partners::default().with(external, vec![PlayerSpec::external()])?;
/// let partners = partners.with(bot, vec!["smart".parse()?])?;
/// let mut batch = Batch::new(variant, 64, 1, Options { partners, ..Options::default() })?;
/// batch.begin_step(&[5; 64])?; // the learner plays its oldest card
/// loop {
///     let waits: Vec<bool> = batch.to_act().map(|seat| seat.is_some_and(|seat| seat != learner)).collect();
///     if !waits.contains(&true) {
///         break;
///     }
///     batch.play_partners(&[5; 64], &waits, BotTurns::UntilExternal)?;
/// }
/// batch.end_step(Outputs::default())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Batch {
    config: BatchConfig,
    games: Games,
    /// The episode that each game is in.
    seeds: Vec<GameSeed>,
    /// The number of steps, resets and draws of worlds. A list of finished games stores the number of the step that
    /// it belongs to.
    num_calls: u64,
    seed: u64,
    /// Whether no game has moved since the batch was made: the first reset keeps such games.
    fresh: bool,
    /// Whether worlds were written into the games since all were dealt: their cards do not follow
    /// from the seeds.
    has_worlds: bool,
    /// Whether a call was interrupted halfway, also by a panic, and the games were not dealt anew
    /// since.
    is_interrupted: bool,
    /// The memory of each thread.
    scratch: Vec<Scratch>,
    /// Memory for the shares of the threads in a step; empty between steps.
    partition: Partition<'static>,
    pool: Pool,
}

impl Batch {
    /// Deals episode 0 of every game; with partners the first episode in which the learner has a turn.
    ///
    /// # Errors
    /// [`BatchError`] for zero games, more than there is memory for, threads that cannot be
    /// started, or partners that leave the learner no turn.
    pub fn new(
        variant: impl Into<Arc<Variant>>,
        num_envs: usize,
        seed: u64,
        options: Options,
    ) -> Result<Batch, BatchError> {
        let variant = variant.into();
        options.partners.check_learner(&variant)?;
        let mut batch = Batch::without_games(variant, num_envs, seed, options)?;
        if batch.has_partners() {
            batch.seat_all()?;
            return Ok(batch);
        }
        for index in 0..num_envs {
            BatchError::check_stop()?;
            let game = Game::new(&batch.config.variant, batch.seeds[index].episode());
            batch.put(index, &game, None);
        }
        Ok(batch)
    }

    /// All memory and threads of a batch. No game is dealt, and there are no tables, but their memory is
    /// allocated.
    fn without_games(
        variant: Arc<Variant>,
        num_envs: usize,
        seed: u64,
        options: Options,
    ) -> Result<Batch, BatchError> {
        if num_envs == 0 || u32::try_from(num_envs).is_err() {
            return Err(BatchError::Number { found: num_envs, most: u32::MAX as usize });
        }
        options.partners.check(&variant)?;
        let config = BatchConfig::new(variant, num_envs, options)?;
        let pool = Pool::new(config.options.num_threads).map_err(BatchError::Threads)?;
        let games = if config.options.partners.is_empty() {
            let blocks = Blocks::new(num_envs, config.kernel_variant.constants);
            Games::Blocks(blocks.map_err(|error| memory(num_envs, error))?)
        } else {
            Games::Tables(reserve(num_envs, num_envs)?)
        };
        let mut seeds = reserve(num_envs, num_envs)?;
        let first_episode = |game| GameSeed::from(EpisodeSeed { seed, game, episode: 0 });
        seeds.extend((0..num_envs as u64).map(first_episode));
        let share = share_size(num_envs, pool.threads());
        // The caller's thread plays the games of threads that do not come in time.
        let capacity = |thread| if thread == 0 { num_envs } else { share };
        let scratch = |thread| Scratch::new(&config, capacity(thread));
        let scratch = (0..pool.threads()).map(scratch).collect::<Result<_, _>>();
        let scratch = scratch.map_err(|error| memory(num_envs, error))?;
        Ok(Batch {
            config,
            games,
            seeds,
            num_calls: 0,
            seed,
            fresh: true,
            has_worlds: false,
            is_interrupted: false,
            scratch,
            partition: Partition::default(),
            pool,
        })
    }

    /// Whether partners hold some of the seats.
    fn has_partners(&self) -> bool {
        !self.config.options.partners.is_empty()
    }

    /// A copy of one game.
    fn copy_game(&self, game: usize) -> Game {
        self.games.game(game, &self.config.variant, self.seeds[game].episode())
    }

    /// Replaces one game of a batch without partners, and its given deck.
    fn put(&mut self, index: usize, game: &Game, order: Option<DrawOrder>) {
        if let Games::Blocks(blocks) = &mut self.games {
            blocks.put(index, game, &self.config.variant);
            if let Some(to) = blocks.decks.get_mut(index) {
                *to = order;
            }
        }
        self.seeds[index] = game.seed.into();
    }

    fn is_over(&self, game: usize) -> bool {
        self.games.to_act(game).is_none()
    }

    /// Writes the outputs of all games as they stand, as a reset does: without rewards or
    /// terminated games.
    ///
    /// # Errors
    /// [`BatchError::Interrupted`], or [`BatchError::Buffer`] for a buffer of a wrong length or element type.
    pub fn observe(&mut self, outputs: Outputs<'_>) -> Result<(), BatchError> {
        self.check_whole()?;
        outputs.check(&self.config, self.num_envs())?;
        self.run(Request::Observe, outputs);
        BatchError::check_stop()
    }

    /// Does what is requested in all games, and writes the outputs. If the request refuses illegal
    /// actions and there is one, it returns `false` and the batch is unchanged. Once the call is
    /// stopped, no further games are played or written. A panic leaves the batch interrupted.
    fn run(&mut self, request: Request<'_>, outputs: Outputs<'_>) -> bool {
        self.interrupt();
        let was_fresh = replace(&mut self.fresh, false);
        let has_run = self.run_request(request, outputs);
        (self.is_interrupted, self.fresh) = (false, was_fresh);
        has_run
    }

    fn run_request(&mut self, request: Request<'_>, outputs: Outputs<'_>) -> bool {
        let (acting_hand, backwards) = (self.games.acting_hand(), self.goes_backwards());
        let call = self.num_calls + u64::from(request.plays());
        let refuse = matches!(request, Request::Play { refuse_illegal: true, .. });
        let refuses = |config: &BatchConfig, games: &Chunk<'_>| {
            Step::new(config, acting_hand, backwards, request).has_illegal(games)
        };
        let run = |config: &BatchConfig, games: &mut Chunk<'_>, scratch: &mut Scratch| {
            scratch.finished.start_call(call);
            Step::new(config, acting_hand, backwards, request).run(games, scratch);
        };
        self.run_threads(outputs, refuse.then_some(refuses), run)
    }

    /// Does a job for all games, each thread with its share of them. If `refuses` holds for any share, no
    /// game changes and the result is `false`.
    fn run_threads(
        &mut self,
        outputs: Outputs<'_>,
        refuses: Option<impl Fn(&BatchConfig, &Chunk<'_>) -> bool + Sync>,
        run: impl Fn(&BatchConfig, &mut Chunk<'_>, &mut Scratch) + Sync,
    ) -> bool {
        let backwards = self.goes_backwards();
        let Batch { config, games, seeds, scratch, partition, pool, .. } = self;
        let config = &*config;
        let mut games = Chunk::new(games, seeds, outputs);
        if let [scratch] = &mut scratch[..] {
            let refused = refuses.is_some_and(|refuses| refuses(config, &games));
            if !refused {
                run(config, &mut games, scratch);
            }
            return !refused;
        }
        let shares = Partition::new(take(partition), games, scratch, config);
        let has_run = shares.run(pool, config, backwards, refuses, run);
        *partition = shares.emptied();
        has_run
    }

    /// Whether the next call goes through the games from the last one to the first.
    const fn goes_backwards(&self) -> bool {
        self.config.alternates && self.num_calls % 2 == 1
    }

    /// Plays one turn in every game; with [`Partners`] the learner's turn and those of its partners up
    /// to its next one. The actions are the numbers of [`ActionId`](crate::rules::ActionId)s. A number
    /// that is not an id is an illegal action. If the call is stopped, every later one returns
    /// [`BatchError::Interrupted`] until all games are reset. With external partners use
    /// [`Batch::begin_step`], [`Batch::play_partners`] and [`Batch::end_step`]: the outputs of a step show neither their
    /// points nor the games that they end.
    ///
    /// # Errors
    /// [`BatchError::IllegalActions`], [`BatchError::Interrupted`], or [`BatchError::Buffer`] for a buffer of a
    /// wrong length or element type; no game has moved then. [`BatchError::Partners`] if a game waits for an external partner, whose turn
    /// [`Batch::play_partners`] plays.
    pub fn step(&mut self, actions: &[i64], outputs: Outputs<'_>) -> Result<(), BatchError> {
        self.check_whole()?;
        outputs.check(&self.config, self.num_envs())?;
        if self.has_partners() {
            return self.play_learner(actions, Some(outputs));
        }
        check_length("actions", actions.len(), self.num_envs())?;
        let options = &self.config.options;
        let waits = options.autoreset_mode == AutoresetMode::Disabled;
        let refuse_illegal = options.illegal_action == IllegalAction::Raise;
        let request = Request::Play { actions, refuse_illegal };
        if waits && (0..self.num_envs()).any(|game| self.is_over(game))
            || !self.run(request, outputs)
        {
            return Err(self.illegal_actions(actions, |_| true).into());
        }
        self.fresh = false;
        self.count_step();
        self.interrupt_if_stopped()
    }

    /// Counts the step that was played.
    fn count_step(&mut self) {
        self.num_calls += 1;
        self.games.count_step(self.config.kernel_variant.constants.players);
    }

    fn interrupt_if_stopped(&mut self) -> Result<(), BatchError> {
        let stopped = BatchError::check_stop();
        if stopped.is_err() {
            self.interrupt();
        }
        stopped
    }

    /// Makes all calls fail until all games are reset, because the outputs of a step are lost or
    /// only some partners have moved.
    pub(crate) const fn interrupt(&mut self) {
        self.is_interrupted = true;
    }

    /// The number of steps, resets and draws of worlds.
    pub(crate) const fn num_calls(&self) -> u64 {
        self.num_calls
    }

    /// Checks that no call was interrupted halfway since all games were dealt.
    pub(crate) const fn check_whole(&self) -> Result<(), BatchError> {
        if self.is_interrupted { Err(BatchError::Interrupted) } else { Ok(()) }
    }

    /// The games, to be read: none is halfway through a call.
    fn whole_games(&self) -> &Games {
        assert!(!self.is_interrupted, "{}", BatchError::Interrupted);
        &self.games
    }
}

/// Allocates a vector of this length for a batch of so many games.
fn reserve<T>(length: usize, num_envs: usize) -> Result<Vec<T>, BatchError> {
    try_with_capacity(length).map_err(|error| memory(num_envs, error))
}

/// The error for a batch of so many games that cannot be allocated.
const fn memory(num_envs: usize, source: TryReserveError) -> BatchError {
    BatchError::Memory { num_envs, source }
}
