use std::sync::Mutex;

use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::games::{Games, lock};
use super::layout::Layout;
use super::numbers::{Integer, count, fresh_seed, seed as read_seed};
use super::outputs::{self, Pools};
use super::partners::{partners_dict, read_partners};
use super::rows::RowPool;
use super::settings::{default_threads, setting};
use super::variant::{Variant, read_variant};
use crate::batch::{self, AutoresetMode, Dtype, IllegalAction, Observers, Options, Partners};
use crate::encode;
use crate::rules::Named;

/// Batch(variant, num_envs, *, encoder="canonical", dtype="float32", observers="current",
///       autoreset_mode="SameStep", illegal_action="raise", partners=None, num_threads=None, seed=None)
///
/// Many games of one variant that are stepped together: the core of `HanabiVectorEnv`, for
/// callers who want their own buffers.
///
/// Args:
///     variant: a `Variant`, or a preset's name.
///     num_envs: number of games N, at least 1.
///     encoder: one of `starmine.encoders()`.
///     dtype: "float32", "float16", "uint8", or "bits": uint8 rows of 8 * ceil(D / 64) bytes that
///         hold a bit for each feature, little bit order, padding bits 0.
///     observers: "current" for rows of the seat to act (N, D), or "all" for rows of every seat
///         (N, players, D).
///     autoreset_mode: when a finished game is dealt anew: "SameStep", "NextStep" or "Disabled".
///     illegal_action: "raise", or "terminate" to end that game as a lost game.
///     partners: the seats that bots hold, such as {1: "smart"}: a bot's name for each (whatever text
///         `play_games` takes, a policy's file too), or what `load_policy` gave, or a sequence of
///         these, of which one is drawn for each episode. A step then plays the learner's turn and
///         all of theirs up to the learner's next one, and its reward is the sum. An episode that
///         ends before the learner's first turn is passed over. A stored batch refers to policies by
///         their files.
///     num_threads: threads that share the games; None for one for each 1,024 games, at most one
///         for each core.
///     seed: 0 to 2**64 - 1; None for a random one. Game i in its episode k is a function of
///         (seed, i, k) and the variant alone.
///
/// Outputs, by name, of `step`, `reset` and `observe`, and as buffers of the `_into` methods (A is
/// `variant.num_actions`):
///     obs: the observations after the step, in the chosen dtype.
///     action_mask: bool (N, A), whether each action is legal for the seat to act.
///     reward: float32 (N,), the change of the score.
///     terminated: bool (N,), whether the game ended in this step.
///     truncated: bool (N,), always False.
///     current_player: int32 (N,), the seat to act.
///     score: int32 (N,), of the game as it stands now.
///     final_score, final_length: int32 (N,), of the game that ended in this step, else 0.
///     final_ending: int8 (N,), how it ended: k for `starmine.endings()[k - 1]`, else 0.
///     illegal_action: bool (N,), whether an illegal action ended the game in this step.
///
/// Raises:
///     UnknownNameError: a name that no encoder or setting has.
///     StarmineError: a number out of range.
///
/// >>> import numpy as np, starmine
/// >>> batch = starmine.Batch("standard", 4, seed=0)
/// >>> out = batch.step(np.full(4, 5))
/// >>> out["obs"].shape, out["action_mask"].shape
/// ((4, 658), (4, 20))
#[pyclass(frozen, module = "starmine")]
pub struct Batch {
    pub(super) games: Mutex<Games>,
    pub(super) pools: Pools,
    /// The last observations of finished games.
    pub(super) last: RowPool,
}

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (variant, num_envs, *, encoder="canonical", dtype="float32",
        observers="current", autoreset_mode=None, illegal_action="raise", partners=None, num_threads=None, seed=None),
        text_signature = "(variant, num_envs, *, encoder='canonical', dtype='float32', observers='current', autoreset_mode='SameStep', illegal_action='raise', partners=None, num_threads=None, seed=None)")]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword argument in Python")]
    fn new(
        variant: &Bound<'_, PyAny>,
        num_envs: Integer,
        encoder: &str,
        dtype: &str,
        observers: &str,
        autoreset_mode: Option<&Bound<'_, PyAny>>,
        illegal_action: &str,
        partners: Option<&Bound<'_, PyAny>>,
        num_threads: Option<Integer>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Batch> {
        let num_envs = count("num_envs", &num_envs, 1..=u32::MAX as usize)?;
        let variant = read_variant(variant)?;
        let read = |given: &Bound<'_, PyAny>| read_partners(given, variant.players());
        let mode = autoreset_mode.map_or_else(|| Ok("SameStep".to_owned()), setting)?;
        let options = Options {
            encoder: encode::encoder(encoder)?,
            dtype: Dtype::from_name(dtype)?,
            observers: Observers::from_name(observers)?,
            autoreset_mode: AutoresetMode::from_name(&mode)?,
            illegal_action: IllegalAction::from_name(illegal_action)?,
            partners: partners.map_or_else(|| Ok(Partners::default()), read)?,
            num_threads: match num_threads {
                Some(threads) => count("num_threads", &threads, 1..=batch::MAX_THREADS)?,
                None => default_threads(num_envs),
            },
            simd: None,
        };
        let seed = seed.map_or_else(|| Ok(fresh_seed()), read_seed)?;
        Ok(Batch::new_from(batch::Batch::new(variant, num_envs, seed, options)?))
    }

    /// The rules that are played.
    #[getter]
    fn variant(&self) -> PyResult<Variant> {
        Ok(Variant(lock(&self.games)?.batch.variant().clone()))
    }

    /// Number of games.
    #[getter]
    fn num_envs(&self) -> PyResult<usize> {
        Ok(lock(&self.games)?.batch.num_envs())
    }

    /// The seed that the batch was last seeded with.
    #[getter]
    fn seed(&self) -> PyResult<u64> {
        Ok(lock(&self.games)?.batch.seed())
    }

    /// The encoder's name.
    #[getter]
    fn encoder(&self) -> PyResult<&'static str> {
        Ok(lock(&self.games)?.batch.options().encoder.name())
    }

    /// The dtype's name.
    #[getter]
    fn dtype(&self) -> PyResult<&'static str> {
        Ok(lock(&self.games)?.batch.options().dtype.name())
    }

    /// Whose observations are written: "current" or "all".
    #[getter]
    fn observers(&self) -> PyResult<&'static str> {
        Ok(lock(&self.games)?.batch.options().observers.name())
    }

    /// When a finished game is dealt anew.
    #[getter]
    fn autoreset_mode(&self) -> PyResult<&'static str> {
        Ok(lock(&self.games)?.batch.options().autoreset_mode.name())
    }

    /// What an illegal action does.
    #[getter]
    fn illegal_action(&self) -> PyResult<&'static str> {
        Ok(lock(&self.games)?.batch.options().illegal_action.name())
    }

    /// The partners by seat, as they were given: a name, or a list of names.
    #[getter]
    fn partners<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        partners_dict(py, &lock(&self.games)?.batch.options().partners)
    }

    /// Threads that share the games.
    #[getter]
    fn num_threads(&self) -> PyResult<usize> {
        Ok(lock(&self.games)?.batch.options().num_threads)
    }

    /// The named sections of an observation.
    #[getter]
    fn layout(&self) -> PyResult<Layout> {
        Ok(Layout(lock(&self.games)?.batch.layout().clone()))
    }

    /// The episode that each game is in: uint64 (N,), 0 before the first autoreset.
    #[getter]
    fn episodes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let episodes: Vec<u64> = lock(&self.games)?.batch.episodes().collect();
        Ok(episodes.into_pyarray(py))
    }

    /// Arrays for all outputs, by name, to be given to the `_into` methods. What they hold before
    /// is not defined.
    fn allocate<'py>(&self, py: Python<'py>) -> PyResult<Py<PyDict>> {
        outputs::dictionary(py, self.new_arrays(py)?)
    }

    /// Deals games anew and returns all outputs in new arrays.
    ///
    /// Args:
    ///     seed: None to go on with each game's next episode (the first call keeps the games as
    ///         they were dealt), an integer to seed the batch, or N integers to seed each game.
    ///     reset_mask: bool (N,), the games to deal anew; None for all.
    ///
    /// Raises:
    ///     ArrayError: a mask or seeds of the wrong length or dtype, or an empty mask.
    ///     StarmineError: a seed out of range.
    #[pyo3(signature = (seed=None, reset_mask=None))]
    fn reset<'py>(
        &self,
        py: Python<'py>,
        seed: Option<&Bound<'py, PyAny>>,
        reset_mask: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Py<PyDict>> {
        let arrays = self.new_arrays(py)?;
        self.reset_given(py, seed, reset_mask, arrays.each_ref().map(Some))?;
        outputs::dictionary(py, arrays)
    }

    /// `reset` into the caller's buffers, by name; what is not given is not written.
    ///
    /// Raises:
    ///     ArrayError: a buffer of the wrong shape or dtype, read-only, not contiguous in C order,
    ///         not aligned, or overlapping another; nothing has changed then.
    #[pyo3(signature = (seed=None, reset_mask=None, *, obs=None, action_mask=None, reward=None,
        terminated=None, truncated=None, current_player=None, score=None, final_score=None,
        final_length=None, final_ending=None, illegal_action=None))]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword argument in Python")]
    fn reset_into<'py>(
        &self,
        py: Python<'py>,
        seed: Option<&Bound<'py, PyAny>>,
        reset_mask: Option<&Bound<'py, PyAny>>,
        obs: Option<&Bound<'py, PyAny>>,
        action_mask: Option<&Bound<'py, PyAny>>,
        reward: Option<&Bound<'py, PyAny>>,
        terminated: Option<&Bound<'py, PyAny>>,
        truncated: Option<&Bound<'py, PyAny>>,
        current_player: Option<&Bound<'py, PyAny>>,
        score: Option<&Bound<'py, PyAny>>,
        final_score: Option<&Bound<'py, PyAny>>,
        final_length: Option<&Bound<'py, PyAny>>,
        final_ending: Option<&Bound<'py, PyAny>>,
        illegal_action: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let given = [
            obs,
            action_mask,
            reward,
            terminated,
            truncated,
            current_player,
            score,
            final_score,
            final_length,
            final_ending,
            illegal_action,
        ];
        self.reset_given(py, seed, reset_mask, given)
    }

    /// All outputs as the games stand, in new arrays, without moving anything.
    fn observe(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        let arrays = self.new_arrays(py)?;
        let given = arrays.each_ref().map(Some);
        lock(&self.games)?.write(py, given, |games, outputs| games.batch.observe(outputs))?;
        outputs::dictionary(py, arrays)
    }

    /// Plays one turn in every game and returns all outputs in new arrays.
    ///
    /// Args:
    ///     actions: N integers of any width, as a numpy array, anything with DLPack, or a
    ///         sequence. The action of a game that autoreset deals anew in this step is ignored.
    ///
    /// Raises:
    ///     IllegalActionError: an action that the rules refuse; its `rows`, `actions` and `legal`
    ///         say where and what would be; no game has moved.
    ///     ArrayError: actions of the wrong shape or dtype.
    ///     BusyError: another thread is in a call of this batch.
    fn step<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Py<PyDict>> {
        let arrays = self.new_arrays(py)?;
        self.step_given(py, actions, arrays.each_ref().map(Some))?;
        outputs::dictionary(py, arrays)
    }

    /// `step` into the caller's buffers, by name; what is not given is not written. With partners, or
    /// more than 64 rows of observations, other Python threads run meanwhile. To name all buffers in
    /// the call took 0.2 us less than to unpack a dictionary of them, a fifth of the time of one game
    /// (Intel Xeon).
    ///
    /// Raises:
    ///     IllegalActionError: as `step`.
    ///     ArrayError: as `step`, or a buffer of the wrong shape or dtype, read-only, not
    ///         contiguous in C order, not aligned, or overlapping another; no game has moved then.
    #[pyo3(signature = (actions, *, obs=None, action_mask=None, reward=None,
        terminated=None, truncated=None, current_player=None, score=None, final_score=None,
        final_length=None, final_ending=None, illegal_action=None))]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword argument in Python")]
    fn step_into<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        obs: Option<&Bound<'py, PyAny>>,
        action_mask: Option<&Bound<'py, PyAny>>,
        reward: Option<&Bound<'py, PyAny>>,
        terminated: Option<&Bound<'py, PyAny>>,
        truncated: Option<&Bound<'py, PyAny>>,
        current_player: Option<&Bound<'py, PyAny>>,
        score: Option<&Bound<'py, PyAny>>,
        final_score: Option<&Bound<'py, PyAny>>,
        final_length: Option<&Bound<'py, PyAny>>,
        final_ending: Option<&Bound<'py, PyAny>>,
        illegal_action: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let given = [
            obs,
            action_mask,
            reward,
            terminated,
            truncated,
            current_player,
            score,
            final_score,
            final_length,
            final_ending,
            illegal_action,
        ];
        self.step_given(py, actions, given)
    }

    /// The number of games that ended in the last step and were dealt anew in it ("SameStep").
    #[getter]
    fn num_finished(&self) -> PyResult<usize> {
        Ok(lock(&self.games)?.batch.num_finished())
    }

    /// The games that ended in the last step and were dealt anew in it ("SameStep"): their indices
    /// int64 (K,), and their last observations in a new array (K, ...).
    fn final_observations<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyAny>)> {
        let (games, rows) = self.last_rows(py)?;
        let indices: Vec<i64> = games.into_iter().map(|game| game as i64).collect();
        Ok((indices.into_pyarray(py), rows.array))
    }

    /// Gymnasium's `final_obs` after a step: objects (N,), the last observation of each game that
    /// ended, else None; or None if no game ended. For `HanabiVectorEnv`.
    fn _final_obs<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<Bound<'py, PyArray1<Py<PyAny>>>>> {
        if self.num_finished()? == 0 {
            return Ok(None);
        }
        let (games, rows) = self.last_rows(py)?;
        let mut objects = Vec::new();
        let num_envs = self.num_envs()?;
        objects.try_reserve_exact(num_envs).map_err(|error| {
            PyMemoryError::new_err(format!("final_obs of {num_envs} elements: {error}"))
        })?;
        objects.resize_with(num_envs, || py.None());
        for (game, view) in games.into_iter().zip(rows.views) {
            objects[game] = view.unbind();
        }
        Ok(Some(objects.into_pyarray(py)))
    }

    /// A batch in the same state, which goes on by itself.
    fn copy(&self) -> PyResult<Batch> {
        Ok(Batch::new_from(lock(&self.games)?.batch.duplicate()?))
    }

    /// The batch as bytes, from which `from_bytes` resumes it exactly.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &lock(&self.games)?.batch.to_bytes()))
    }

    /// The batch of `to_bytes`.
    ///
    /// Raises:
    ///     SerializationError: the bytes are damaged or of another version.
    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Batch> {
        Ok(Batch::new_from(batch::Batch::from_bytes(data)?))
    }

    fn __copy__(&self) -> PyResult<Batch> {
        self.copy()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyDict>) -> PyResult<Batch> {
        self.copy()
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Batch>().getattr("from_bytes")?, (self.to_bytes(py)?,)))
    }

    fn __repr__(&self) -> PyResult<String> {
        let batch = &lock(&self.games)?.batch;
        Ok(format!("<Batch of {} games: {}>", batch.num_envs(), batch.variant()))
    }
}
