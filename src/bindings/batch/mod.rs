//! The Python class `Batch`: construction, resets and steps. Its other methods have a file for each subject.

pub mod caller_arrays;
pub mod copies;
pub mod external_partner;
pub mod external_turns;
pub mod final_observations;
pub mod outputs;
pub mod properties;
pub mod replay;
pub mod settings;
pub mod worlds;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};

use pyo3::prelude::*;
use pyo3::types::PyDict;

use self::outputs::{COUNT, GivenArrays, OutputArrays};
use self::settings::{Reset, mode_name, read_extra_outputs, read_partners};
use crate::batch::{
    self, AutoresetMode, BatchError, Dealt, Dtype, IllegalAction, Observers, Options, Outputs,
    Partners,
};
use crate::bindings::arguments::numbers::{Integer, count, fresh_seed, seed as read_seed};
use crate::bindings::arguments::text::Text;
use crate::bindings::arrays::claims::{Claims, Interpreter};
use crate::bindings::arrays::copies::{integer_array, read_integers};
use crate::bindings::errors::BusyError;
use crate::bindings::interruptible::{detached, interruptible};
use crate::bindings::process::forks;
use crate::bindings::rules::variant::read_variant;
use crate::encode::Encoder;

/// The most games without partners that are dealt, copied or stored without looking for signals: a
/// tenth of a second.
const INTERRUPTIBLE: usize = 1 << 16;

/// The most games without partners that are stepped without looking for signals.
const LONG_STEP: usize = 1 << 20;

/// The most games with partners that are stepped without looking for signals.
const LONG_PARTNERS: usize = 1 << 8;

/// Batch(variant, num_envs, *, encoder="canonical", dtype="float32", observers="current",
///       autoreset_mode="SameStep", illegal_action="raise", partners=None, extra_outputs=(),
///       num_threads=None, seed=None)
///
/// Many games of one variant that are stepped together. `HanabiVectorEnv` is made of it; use it
/// directly to let steps write arrays of your own.
///
/// Args:
///     variant: a `Variant`, or a preset's name.
///     num_envs: number of games N, 1 to 2**32 - 1.
///     encoder: one of `starmine.encoders()`; its observations have D features.
///     dtype: "float32", "float16", "uint8", or "bits": uint8 rows of 8 * ceil(D / 64) bytes with one
///         bit for each feature, little bit order, padding bits 0.
///     observers: "current" for the observation of the seat to act, or "all" for those of all seats.
///     autoreset_mode: when an ended game is dealt anew. "SameStep": in the step that ends it; `obs`,
///         `action_mask`, `current_player` and `score` then show the new game. "NextStep": in the next
///         step, which ignores its action. "Disabled": only by `reset`; a step before that is refused.
///     illegal_action: "raise" to refuse the step, or "terminate" to end that game as a lost game.
///     partners: the seats that bots play, such as {1: "smart"}. The value is a bot's name (any text
///         that `play_games` takes, including a policy file), the result of `load_policy`, or a
///         sequence of up to 64 of these or of pairs (partner, weight). One of them is drawn for each
///         episode, with a probability in proportion to its weight, by default 1. The learner, who calls
///         `step`, has the other seats. A step then plays the learner's turn and the partners' turns up to
///         the learner's next one, and its reward is their sum. The points of the partners' turns before
///         the learner's first one belong to the reward of the learner's first step in the episode, so
///         that the rewards of an episode add up to its final score. An episode that ends before the
///         learner's first turn is skipped; after 1,000 such episodes in a row in one step, the game
///         remains ended and its mask is all False. The next step, with any action, deals it anew.
///     extra_outputs: names of optional outputs: "card_features", "public_marginals", "own_hand". `step`, `reset`,
///         `observe` and `allocate` return those that are named here. `step_into` and `reset_into` take an
///         array for any of them, named here or not.
///     num_threads: threads that share the games, 1 to 1024; None for one per 1,024 games, at most one
///         per core.
///     seed: 0 to 2**64 - 1; None for a random one. Game i in episode k is a function of (seed, i, k)
///         and the variant alone.
///
/// Outputs, by name, of `step`, `reset` and `observe`, and keyword arguments of `step_into` and
/// `reset_into` (A is `variant.num_actions`):
///     obs: the observations after the step, in the chosen dtype: (N, D), or (N, players, D) with
///         observers="all"; with "bits" the last axis has 8 * ceil(D / 64) bytes.
///     action_mask: bool (N, A), whether each action is legal for the seat to act.
///     reward: float32 (N,), the change of the score since the learner's last step in the episode.
///     terminated: bool (N,), whether the game ended in this step.
///     truncated: bool (N,), always False.
///     current_player: int32 (N,), the seat to act.
///     score: int32 (N,), the score so far.
///     final_score: int32 (N,), the score of the game that ended in this step, else 0.
///     final_length: int32 (N,), the number of turns of the game that ended in this step, else 0.
///     final_ending: int8 (N,), how that game ended, `starmine.endings()[k - 1]` for code k, else 0.
///     illegal_action: bool (N,), whether an illegal action ended the game in this step.
///
/// Extra outputs, with P seats, H slots of a full hand and K = colors * ranks. They do not depend on the
/// encoder. The observer is the seat to act; with observers="all" a second axis has a row for each seat.
/// Hands are in clockwise order from the observer's own. An absent card is 0, and -1 in `own_hand`:
///     card_features: float32 (N, P, H, 3), of each card whether it is playable, dead (it can never be
///         played) and critical (still needed, and its last copy). Of the observer's own cards these are
///         probabilities, by the exact counts of `View.marginals`.
///     public_marginals: float32 (N, P, H, K), the probability of each card in each slot from what all
///         seats know: among the cards that the hints allow, in proportion to the copies that are
///         neither played nor discarded. These are the V0 beliefs that JaxMARL and off-belief
///         learning observe; unlike `View.marginals` they weigh each slot by itself and do not use
///         the visible hands.
///     own_hand: int8 (N, H), `suit * ranks + rank` of the observer's own cards, which it may not see: for
///         privileged critics and auxiliary losses.
///
/// Raises:
///     UnknownNameError: there is no such preset, encoder, dtype, mode, bot or extra output.
///     VariantError: partners that do not play this variant.
///     StarmineError: a number out of range, partners in all seats, weights that are negative or all 0,
///         or partners who end 1,000 deals of a game in a row before the learner's first turn.
///     SerializationError: a partner's policy file is damaged.
///     MemoryError: the games do not fit into memory.
///     TypeError: there is no such argument, or a value of another type.
///
/// >>> import numpy as np, starmine
/// >>> batch = starmine.Batch("standard", 4, seed=0)
/// >>> out = batch.step(np.full(4, 5))
/// >>> out["obs"].shape, out["action_mask"].shape
/// ((4, 658), (4, 20))
#[pyclass(frozen, module = "starmine")]
pub struct Batch {
    games: Mutex<Games>,
    /// The value of `forks` at the last call. A child that was forked during a call has a copy of the
    /// batch halfway through it, and of its lock, which nobody opens.
    caller: AtomicU32,
    pub outputs: OutputArrays,
}

/// The games and what their calls need.
pub struct Games {
    pub batch: batch::Batch,
    /// The actions of the current step.
    pub actions: Vec<i64>,
}

impl Games {
    pub fn step(&mut self, outputs: Outputs<'_>) -> Result<(), BatchError> {
        self.batch.step(&self.actions, outputs)
    }

    pub fn reset(
        &mut self,
        reset: &Reset,
        dealt: Dealt,
        outputs: Outputs<'_>,
    ) -> Result<(), BatchError> {
        self.batch.reset_to(dealt, reset.seeds(), reset.mask(), outputs)
    }

    /// Calls of at most this many observation rows keep the interpreter: they take a few microseconds,
    /// to which releasing it would add noticeably.
    const KEEP_INTERPRETER: usize = 64;

    /// Whether it may take long to copy or store the games, or to deal given decks.
    pub fn is_long(&self) -> bool {
        self.batch.num_envs() > INTERRUPTIBLE || !self.batch.options().partners.is_empty()
    }

    /// Whether a step may take longer than a tenth of a second: partners that search take seconds for a
    /// move, and others up to a millisecond.
    fn is_long_step(&self) -> bool {
        let (partners, num_envs) = (&self.batch.options().partners, self.batch.num_envs());
        partners.any_searches()
            || num_envs > if partners.is_empty() { LONG_STEP } else { LONG_PARTNERS }
    }

    /// Makes a call without the interpreter, and looks for signals if it may take long.
    fn call_long(
        &mut self,
        py: Python<'_>,
        call: impl FnOnce(&mut Games) -> Result<(), BatchError> + Send,
    ) -> PyResult<()> {
        if !self.is_long_step() {
            return Ok(py.detach(|| call(self))?);
        }
        let num_calls = self.batch.num_calls();
        let result = interruptible(py, || call(self));
        if result.is_err() && self.batch.num_calls() != num_calls {
            // The call may have ended just before the signal came; nobody gets its outputs.
            self.batch.interrupt();
        }
        Ok(result??)
    }

    /// Plays turns in a batch with partners, with the actions that were read.
    pub fn play(
        &mut self,
        py: Python<'_>,
        play: impl FnOnce(&mut batch::Batch, &[i64]) -> Result<(), BatchError> + Send,
    ) -> PyResult<()> {
        self.call_long(py, |games| play(&mut games.batch, &games.actions))
    }

    /// Partners may take any time, so they play without the interpreter.
    fn keeps_interpreter(&self) -> bool {
        let rows = self.batch.num_envs() * self.batch.num_observers();
        rows <= Self::KEEP_INTERPRETER && self.batch.options().partners.is_empty()
    }
}

impl Batch {
    pub fn wrap(py: Python<'_>, batch: batch::Batch) -> Batch {
        let outputs = OutputArrays::new(py, &batch);
        let outputs = outputs.with_only(|name| batch.options().has_output(name));
        let games = Games { batch, actions: Vec::new() };
        Batch { games: Mutex::new(games), caller: AtomicU32::new(0), outputs }
    }

    /// The games, for one caller at a time.
    pub fn lock(&self) -> PyResult<MutexGuard<'_, Games>> {
        let games = match self.games.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(BusyError::new_err(self.why_busy())),
        };
        self.caller.store(forks(), Ordering::Relaxed);
        Ok(games)
    }

    /// The games, for one caller at a time, unless an earlier call was interrupted halfway.
    pub fn lock_whole(&self) -> PyResult<MutexGuard<'_, Games>> {
        let games = self.lock()?;
        games.batch.check_whole()?;
        Ok(games)
    }

    fn why_busy(&self) -> &'static str {
        if self.caller.load(Ordering::Relaxed) == forks() {
            "this batch is in use by another thread: expected one caller at a time"
        } else {
            "this batch was in a call of another thread when this process was forked, so its copy here \
             cannot be used: expected a batch that was in no call, or a new one"
        }
    }

    /// The games, with the actions of a step. Reading actions may run any Python code.
    pub fn read_actions(&self, actions: &Bound<'_, PyAny>) -> PyResult<MutexGuard<'_, Games>> {
        let actions = integer_array("actions", actions)?;
        let mut games = self.lock()?;
        let num_envs = games.batch.num_envs();
        read_integers("actions", &actions, &[num_envs], &mut games.actions)?;
        Ok(games)
    }

    /// The number of games, and of the cards of each.
    pub fn shape(&self) -> PyResult<[usize; 2]> {
        let batch = &self.lock()?.batch;
        Ok([batch.num_envs(), batch.variant().deck_size().into()])
    }

    /// The games, with the deals of a reset. Partners may take any time for their first turns, and
    /// meanwhile the call can be interrupted.
    pub fn deal(&self, py: Python<'_>, reset: &Reset) -> PyResult<(MutexGuard<'_, Games>, Dealt)> {
        let mut games = self.lock()?;
        let is_long_deal = games.is_long();
        let batch = &mut games.batch;
        let has_partners = !batch.options().partners.is_empty();
        let deal = || batch.deal(reset.seeds(), reset.mask(), reset.decks());
        let is_long = match reset.decks() {
            None => has_partners,
            Some(_) => is_long_deal,
        };
        let dealt = detached(is_long, py, deal)?;
        Ok((games, dealt?))
    }

    /// Makes a call that writes the caller's arrays.
    pub fn call_into<'py>(
        &self,
        py: Python<'py>,
        mut games: MutexGuard<'_, Games>,
        given: GivenArrays<'_, 'py>,
        call: impl FnOnce(&mut Games, Outputs<'_>) -> Result<(), BatchError> + Send,
    ) -> PyResult<()> {
        let mut claims = Claims::none();
        self.outputs.check(given, &mut claims)?;
        self.call(py, &mut games, &mut claims, call)
    }

    /// Makes a call that writes arrays of our own, and returns them by name.
    pub fn call_new(
        &self,
        py: Python<'_>,
        mut games: MutexGuard<'_, Games>,
        call: impl FnOnce(&mut Games, Outputs<'_>) -> Result<(), BatchError> + Send,
    ) -> PyResult<Py<PyDict>> {
        let arrays = self.outputs.take(py)?;
        let mut claims = Claims::none();
        self.outputs.trust(&arrays, &mut claims);
        let result = self.call(py, &mut games, &mut claims, call);
        drop(games);
        result?;
        self.outputs.dictionary(py, &arrays)
    }

    fn call(
        &self,
        py: Python<'_>,
        games: &mut Games,
        claims: &mut Claims<'_, COUNT>,
        call: impl FnOnce(&mut Games, Outputs<'_>) -> Result<(), BatchError> + Send,
    ) -> PyResult<()> {
        let keeps_interpreter = games.keeps_interpreter();
        let interpreter = Interpreter::kept_if(keeps_interpreter);
        let mut reserved = claims.reserve(interpreter)?;
        let outputs = self.outputs.buffers(&mut reserved);
        if keeps_interpreter {
            return Ok(call(games, outputs)?);
        }
        games.call_long(py, |games| call(games, outputs))
    }
}

pub fn read_threads(given: Option<Integer>) -> PyResult<Option<usize>> {
    given.map(|threads| count("num_threads", &threads, 1..=batch::MAX_THREADS)).transpose()
}

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (variant, num_envs, *, encoder=Text::from("canonical"), dtype=Text::from("float32"),
        observers=Text::from("current"), autoreset_mode=None, illegal_action=Text::from("raise"), partners=None,
        extra_outputs=None, num_threads=None, seed=None),
        text_signature = "(variant, num_envs, *, encoder='canonical', dtype='float32', observers='current', autoreset_mode='SameStep', illegal_action='raise', partners=None, extra_outputs=(), num_threads=None, seed=None)")]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword argument in Python")]
    fn new(
        py: Python<'_>,
        variant: &Bound<'_, PyAny>,
        num_envs: Integer,
        encoder: Text,
        dtype: Text,
        observers: Text,
        autoreset_mode: Option<&Bound<'_, PyAny>>,
        illegal_action: Text,
        partners: Option<&Bound<'_, PyAny>>,
        extra_outputs: Option<&Bound<'_, PyAny>>,
        num_threads: Option<Integer>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Batch> {
        let num_envs = count("num_envs", &num_envs, 1..=u32::MAX as usize)?;
        let variant = read_variant(variant)?;
        let read = |given: &Bound<'_, PyAny>| read_partners(given, variant.players());
        let mode = autoreset_mode.map_or_else(|| Ok("SameStep".into()), mode_name)?;
        let options = Options {
            encoder: encoder.parse::<Encoder>()?,
            dtype: dtype.parse::<Dtype>()?,
            observers: observers.parse::<Observers>()?,
            autoreset_mode: mode.parse::<AutoresetMode>()?,
            illegal_action: illegal_action.parse::<IllegalAction>()?,
            partners: partners.map_or_else(|| Ok(Partners::default()), read)?,
            extra_outputs: extra_outputs.map_or_else(|| Ok(Vec::new()), read_extra_outputs)?,
            num_threads: read_threads(num_threads)?
                .unwrap_or_else(|| batch::default_threads(num_envs)),
            simd: None,
        };
        let seed = seed.map_or_else(|| Ok(fresh_seed()), read_seed)?;
        let is_long = num_envs > INTERRUPTIBLE || !options.partners.is_empty();
        let make = || batch::Batch::new(variant, num_envs, seed, options);
        let made = detached(is_long, py, make)?;
        Ok(Batch::wrap(py, made?))
    }

    /// An array for each output, by name, to be given to `step_into` and `reset_into`. What the
    /// arrays hold is not defined.
    fn allocate<'py>(&self, py: Python<'py>) -> PyResult<Py<PyDict>> {
        self.outputs.dictionary(py, &self.outputs.take(py)?)
    }

    /// Deals games anew and returns all outputs in new arrays.
    ///
    /// Args:
    ///     seed: None for each game's next episode (before any step or reset the games stay as they were
    ///         dealt), an integer to seed the batch, or N integers to seed each game: game i is then game 0
    ///         of the i-th seed. Episodes of a new seed begin with 0.
    ///     reset_mask: bool (N,), the games to deal anew; None for all.
    ///     decks: uint8 (N, deck_size), the decks to deal instead of those of the seeds: for each card
    ///         suit * ranks + rank, the top card first, seat 0's hand before seat 1's. The decks of games
    ///         outside the mask are not read. The episodes after these are dealt by the seeds.
    ///     start_players: uint8 (N,), the seats that start, only with decks; None for seat 0.
    ///
    /// Raises:
    ///     ArrayError: a mask, decks or start players of the wrong shape or dtype, another number of seeds
    ///         than N, or a mask without any game.
    ///     TypeError: a seed that is no integer.
    ///     DeckError: a deck that is not the variant's, or a start player that is not a seat; nothing has
    ///         changed.
    ///     StarmineError: a seed out of range, start players without decks, decks in a batch with partners,
    ///         partners who leave the learner no turn, or a mask that leaves games out after an interrupted call;
    ///         nothing has changed.
    ///     BusyError: another thread is in a call of this batch.
    #[pyo3(signature = (seed=None, reset_mask=None, decks=None, start_players=None))]
    fn reset<'py>(
        &self,
        py: Python<'py>,
        seed: Option<&Bound<'py, PyAny>>,
        reset_mask: Option<&Bound<'py, PyAny>>,
        decks: Option<&Bound<'py, PyAny>>,
        start_players: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Py<PyDict>> {
        let reset = Reset::read(seed, reset_mask, decks, start_players, self.shape()?)?;
        let (games, dealt) = self.deal(py, &reset)?;
        self.call_new(py, games, |games, outputs| games.reset(&reset, dealt, outputs))
    }

    /// Returns all outputs of the games as they stand, in new arrays: no rewards, nothing terminated.
    ///
    /// Raises:
    ///     StarmineError: an earlier call was interrupted: reset all games first.
    ///     BusyError: another thread is in a call of this batch.
    fn observe(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        self.call_new(py, self.lock()?, |games, outputs| games.batch.observe(outputs))
    }

    /// Plays one turn in every game and returns all outputs in new arrays.
    ///
    /// Args:
    ///     actions: N integers of any width, as a numpy array, an object with DLPack, or a sequence.
    ///         The action of a game that "NextStep" deals anew in this step is ignored.
    ///
    /// Raises:
    ///     IllegalActionError: an action that is not legal. `count` is the number of such actions, `rows`
    ///         has the first 100 of their games, `actions` their actions, `legal` the legal actions of
    ///         each. No game has moved.
    ///     ArrayError: actions of the wrong shape or dtype.
    ///     StarmineError: an earlier step or reset was interrupted, for instance by Ctrl-C: reset all games first.
    ///     BusyError: another thread is in a call of this batch.
    fn step<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Py<PyDict>> {
        self.call_new(py, self.read_actions(actions)?, Games::step)
    }

    fn __repr__(&self) -> PyResult<String> {
        let batch = &self.lock()?.batch;
        Ok(format!("<Batch of {} games: {}>", batch.num_envs(), batch.variant()))
    }
}
