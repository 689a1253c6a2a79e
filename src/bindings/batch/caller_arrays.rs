//! The methods of `Batch` that write the caller's arrays. Their keyword arguments come from the table
//! of outputs.

use pyo3::prelude::*;

use super::settings::Reset;
use super::{Batch, Games};
use crate::batch::{Outputs, for_each_output};

macro_rules! define_methods {
    ($($(#[$doc:meta])* $name:ident: $buffer:ty = $own:ty, [$($axis:ident),*];)+) => {
        #[pymethods]
        #[expect(clippy::too_many_arguments, reason = "each is a keyword argument in Python")]
        impl Batch {
            /// `reset` into the caller's arrays, one keyword argument for each output of `Batch`. An
            /// output that is not given is not written.
            ///
            /// Raises:
            ///     ArrayError: as `reset`, or an array of the wrong shape or dtype, read-only, not
            ///         contiguous in C order, not aligned, or overlapping another. Nothing has changed
            ///         then.
            ///     DeckError, StarmineError, TypeError: as `reset`.
            ///     BusyError: another thread is in a call of this batch.
            #[pyo3(signature = (seed=None, reset_mask=None, decks=None, start_players=None, *, $($name=None),+))]
            fn reset_into<'py>(
                &self,
                py: Python<'py>,
                seed: Option<&Bound<'py, PyAny>>,
                reset_mask: Option<&Bound<'py, PyAny>>,
                decks: Option<&Bound<'py, PyAny>>,
                start_players: Option<&Bound<'py, PyAny>>,
                $($name: Option<&Bound<'py, PyAny>>,)+
            ) -> PyResult<()> {
                let reset = Reset::read(seed, reset_mask, decks, start_players, self.shape()?)?;
                let (games, dealt) = self.deal(py, &reset)?;
                let call = |games: &mut Games, outputs: Outputs<'_>| {
                    games.reset(&reset, dealt, outputs)
                };
                self.call_into(py, games, [$($name),+], call)
            }

            /// `step` into the caller's arrays, one keyword argument for each output of `Batch`. An
            /// output that is not given is not written. Other Python threads run meanwhile if the batch
            /// has partners or more than 64 observation rows.
            ///
            /// Raises:
            ///     IllegalActionError: as `step`.
            ///     ArrayError: as `step`, or an array of the wrong shape or dtype, read-only, not
            ///         contiguous in C order, not aligned, or overlapping another. No game has moved
            ///         then.
            ///     StarmineError: as `step`.
            ///     BusyError: another thread is in a call of this batch.
            #[pyo3(signature = (actions, *, $($name=None),+))]
            fn step_into<'py>(
                &self,
                py: Python<'py>,
                actions: &Bound<'py, PyAny>,
                $($name: Option<&Bound<'py, PyAny>>,)+
            ) -> PyResult<()> {
                self.call_into(py, self.read_actions(actions)?, [$($name),+], Games::step)
            }
        }
    };
}

for_each_output!(define_methods);
