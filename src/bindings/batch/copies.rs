//! Copies of a `Batch`, and its stored form.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::{Batch, read_threads};
use crate::batch;
use crate::bindings::arguments::numbers::Integer;
use crate::bindings::interruptible::{detached, interruptible};

#[pymethods]
impl Batch {
    /// An independent batch in the same state.
    ///
    /// Raises:
    ///     StarmineError: an earlier call was interrupted: reset all games first.
    ///     MemoryError: the games do not fit into memory.
    ///     BusyError: another thread is in a call of this batch.
    fn copy(&self, py: Python<'_>) -> PyResult<Batch> {
        let games = self.lock()?;
        let copy = || games.batch.try_clone();
        Ok(Batch::wrap(py, detached(games.is_long(), py, copy)??))
    }

    /// The batch as bytes, from which `from_bytes` resumes it exactly. Neither the number of threads nor
    /// the games that ended in the last step are stored, so batches in the same state give the same bytes.
    /// The bytes have the weights of partners' policies; policies of the package are stored by their names.
    ///
    /// Raises:
    ///     SerializationError: games have given decks, worlds were drawn into the batch since its last reset of all
    ///         games, or partners are Python objects.
    ///     StarmineError: an earlier call was interrupted: reset all games first.
    ///     MemoryError: there is no memory for the bytes.
    ///     BusyError: another thread is in a call of this batch.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let games = self.lock()?;
        let store = || games.batch.to_bytes();
        let bytes = detached(games.is_long(), py, store)??;
        drop(games);
        PyBytes::new_with(py, bytes.len(), |target| {
            target.copy_from_slice(&bytes);
            Ok(())
        })
    }

    /// The batch of `to_bytes`. Every field is checked, also in bytes with a valid checksum.
    ///
    /// Args:
    ///     data: the bytes.
    ///     num_threads: threads that share the games, 1 to 1024; None for one per 1,024 games, at most
    ///         one per core.
    ///
    /// Raises:
    ///     SerializationError: the bytes are damaged or of another version. The message names the
    ///         field.
    ///     StarmineError: `num_threads` out of range, or threads that cannot be started.
    ///     MemoryError: the games do not fit into memory.
    #[staticmethod]
    #[pyo3(signature = (data, *, num_threads=None))]
    fn from_bytes(py: Python<'_>, data: &[u8], num_threads: Option<Integer>) -> PyResult<Batch> {
        let num_threads = read_threads(num_threads)?;
        let read = || batch::Batch::from_bytes(data, num_threads);
        Ok(Batch::wrap(py, interruptible(py, read)??))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Batch> {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyDict>) -> PyResult<Batch> {
        self.copy(py)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Batch>().getattr("from_bytes")?, (self.to_bytes(py)?,)))
    }
}
