//! The same positions with the hidden cards drawn anew.

use pyo3::prelude::*;

use super::Batch;
use crate::batch::Worlds;
use crate::bindings::arguments::numbers::{Integer, count, fresh_seed, seat, seed as read_seed};
use crate::bindings::arrays::copies::mask;
use crate::bindings::errors::StarmineError;
use crate::bindings::interruptible::detached;

/// The most worlds that are drawn without looking for signals: some tens of milliseconds.
const LONG_WORLDS: usize = 1 << 14;

#[pymethods]
impl Batch {
    /// worlds(count=1, *, seed=None, observer=None, games=None, into=None)
    ///
    /// Draws worlds: for each game a game in the same position as far as one seat can tell, with that
    /// seat's hand and the order of the deck drawn anew. All assignments of the unseen cards to the hand
    /// and the deck that the hints allow are equally likely, as in `View.sample_hands`. The choices of the
    /// players tell nothing here.
    ///
    /// The result is an ordinary batch: it can be stepped, observed and copied. All seats act in it, also
    /// those that partners hold in this batch. A world that ends is followed by an ordinary game of the
    /// result. A batch of worlds cannot be stored until one call resets all its games.
    ///
    /// Args:
    ///     count: worlds of each game, at least 1; `count * N` is at most 2**32 - 1. World w of game g is game
    ///         `count * g + w` of the result.
    ///     seed: 0 to 2**64 - 1; None for a random one. Game i of the result is a function of the game that it is drawn
    ///         from, the observer, the seed and i.
    ///     observer: the seat whose hand is drawn anew; None for the seat to act in each game.
    ///     games: bool (N,), the games of which worlds are drawn; None for all. In the places of the others
    ///         `into` keeps its games, and a new batch has newly dealt ones.
    ///     into: a batch of the same variant with `count * N` games and without partners, whose games
    ///         are replaced, without allocating memory; its settings stay. None for a new batch
    ///         with the settings of this one.
    ///
    /// Returns:
    ///     `into`, or the new batch.
    ///
    /// Raises:
    ///     StarmineError: a number out of range, a batch `into` that does not fit, a game that is over where the
    ///         result resets in the same step (choose others by `games`, or another mode), or an earlier call that
    ///         was interrupted halfway.
    ///     ArrayError: `games` has another shape or dtype.
    ///     MemoryError: the games do not fit into memory.
    ///     BusyError: another thread is in a call of this batch or of `into`.
    ///
    /// >>> import starmine
    /// >>> batch = starmine.Batch("standard", 4, seed=0)
    /// >>> worlds = batch.worlds(8, seed=1)
    /// >>> worlds.num_envs, bool((worlds.observe()["obs"][::8] == batch.observe()["obs"]).all())
    /// (32, True)
    #[pyo3(signature = (count=None, *, seed=None, observer=None, games=None, into=None),
        text_signature = "($self, count=1, *, seed=None, observer=None, games=None, into=None)")]
    fn worlds<'py>(
        slf: &Bound<'py, Batch>,
        count: Option<Integer>,
        seed: Option<&Bound<'py, PyAny>>,
        observer: Option<Integer>,
        games: Option<&Bound<'py, PyAny>>,
        into: Option<&Bound<'py, Batch>>,
    ) -> PyResult<Bound<'py, Batch>> {
        let py = slf.py();
        let number =
            count.map_or(Ok(1), |given| self::count("count", &given, 1..=u32::MAX as usize))?;
        let seed = seed.map_or_else(|| Ok(fresh_seed()), read_seed)?;
        if into.is_some_and(|into| into.is(slf)) {
            return Err(StarmineError::new_err("into is the batch itself: expected another one"));
        }
        // Reading the flags may run any Python code, so the batch is not locked meanwhile.
        let [num_envs, _] = slf.get().shape()?;
        let games = games.map(|given| mask("games", given, num_envs)).transpose()?;
        let source = slf.get().lock()?;
        let batch = &source.batch;
        let players = batch.variant().players();
        let observer = observer.map(|given| seat("observer", &given, players)).transpose()?;
        let worlds = Worlds { count: number, seed, observer, games: games.as_deref() };
        let is_long = num_envs.saturating_mul(number) > LONG_WORLDS;
        let Some(into) = into else {
            let drawn = detached(is_long, py, || batch.worlds(worlds))??;
            return Bound::new(py, Batch::wrap(py, drawn));
        };
        let mut target = into.get().lock()?;
        let target = &mut target.batch;
        let drawn = detached(is_long, py, || batch.write_worlds(worlds, target));
        if drawn.is_err() {
            // The call may have ended just before a signal came: nobody knows that the games are others.
            target.interrupt();
        }
        drawn??;
        Ok(into.clone())
    }
}
