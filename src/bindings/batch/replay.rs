//! The rows of a replay of recorded games.

use std::sync::{Mutex, TryLockError};

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::outputs::OutputArrays;
use crate::batch::{self, Dtype, Observers, Options, Replay};
use crate::bindings::arguments::listed::Listed;
use crate::bindings::arguments::numbers::{Integer, count};
use crate::bindings::arguments::text::Text;
use crate::bindings::arrays::claims::{Claims, Interpreter};
use crate::bindings::errors::BusyError;
use crate::bindings::interruptible::interruptible;
use crate::bindings::rules::recording::read_recording;
use crate::bindings::rules::variant::read_variant;
use crate::encode::Encoder;

/// A replay of recorded games, many side by side, for `Trajectories.replay` and `Dataset.replay`.
#[pyclass(frozen, module = "starmine")]
pub struct _Replay {
    replay: Mutex<Replay>,
    outputs: OutputArrays,
}

#[pymethods]
impl _Replay {
    /// Reads the games, of which `rows` are played side by side. `outputs` names the arrays of a batch
    /// that each step returns.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "each is an argument in Python")]
    fn new(
        py: Python<'_>,
        variant: &Bound<'_, PyAny>,
        decks: &Bound<'_, PyAny>,
        start_players: &Bound<'_, PyAny>,
        actions: &Bound<'_, PyAny>,
        offsets: &Bound<'_, PyAny>,
        rows: Integer,
        outputs: Listed<Text>,
        encoder: Text,
        dtype: Text,
        observers: Text,
        num_threads: Option<Integer>,
    ) -> PyResult<_Replay> {
        let rows = count("batch_size", &rows, 1..=u32::MAX as usize)?;
        let variant = read_variant(variant)?;
        let games = read_recording(&variant, [decks, start_players, actions, offsets])?;
        let threads = num_threads
            .map(|threads| count("num_threads", &threads, 1..=batch::MAX_THREADS))
            .transpose()?;
        let options = Options {
            encoder: encoder.parse::<Encoder>()?,
            dtype: dtype.parse::<Dtype>()?,
            observers: observers.parse::<Observers>()?,
            num_threads: threads
                .unwrap_or_else(|| batch::default_threads(rows.min(games.len().max(1)))),
            ..Options::default()
        };
        let replay = interruptible(py, || Replay::new(games, rows, options))??;
        let arrays = OutputArrays::new(py, replay.batch());
        let arrays = arrays.with_only(|name| outputs.iter().any(|output| **output == *name));
        Ok(_Replay { replay: Mutex::new(replay), outputs: arrays })
    }

    /// Plays the recorded actions; the first call deals the first games.
    ///
    /// Returns:
    ///     The outputs by name: those of a turn, such as the reward, for the rows as they were before the
    ///     call, the others for the rows as they are now, with `action`, `game` and `turn`; and the number
    ///     of rows that are in a game. The others have -1 as `game`.
    ///
    /// Raises:
    ///     StarmineError: an action is not legal. The replay cannot go on then.
    ///     BusyError: another thread is in a call of this replay.
    fn step(&self, py: Python<'_>) -> PyResult<(Py<PyDict>, usize)> {
        let arrays = self.outputs.take(py)?;
        let mut guard = match self.replay.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let message =
                    "this replay is in use by another thread: expected one caller at a time";
                return Err(BusyError::new_err(message));
            }
        };
        let replay = &mut *guard;
        let mut claims = Claims::none();
        self.outputs.trust(&arrays, &mut claims);
        let mut reserved = claims.reserve(Interpreter::Released)?;
        let buffers = self.outputs.buffers(&mut reserved);
        let result = py.detach(|| replay.step(buffers));
        drop(reserved);
        result?;
        let rows = self.outputs.dictionary(py, &arrays)?;
        let dictionary = rows.bind(py);
        dictionary.set_item("action", PyArray1::from_slice(py, replay.actions()))?;
        dictionary.set_item("game", PyArray1::from_slice(py, replay.current_games()))?;
        dictionary.set_item("turn", PyArray1::from_slice(py, replay.turns()))?;
        Ok((rows, replay.num_live()))
    }
}
