//! The buffers of one call: borrowed from numpy arrays, or allocated.

use std::sync::{Mutex, PoisonError};

use half::f16;
use numpy::{Element, PyReadwriteArrayDyn};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use super::arrays::{Claims, output, slice};
use crate::batch::{self, Dtype, ObservationBuffer, Outputs};

/// A borrowed observation buffer of any dtype.
pub(super) enum Observations<'py> {
    Float32(PyReadwriteArrayDyn<'py, f32>),
    Float16(PyReadwriteArrayDyn<'py, f16>),
    Bytes(Dtype, PyReadwriteArrayDyn<'py, u8>),
}

impl<'py> Observations<'py> {
    pub fn borrow(
        batch: &batch::Batch,
        given: &Bound<'py, PyAny>,
        games: usize,
        claims: &mut Claims,
    ) -> PyResult<Self> {
        let shape = observation_shape(batch, games);
        Ok(match batch.options().dtype {
            Dtype::Float32 => Observations::Float32(output("obs", given, &shape, claims)?),
            Dtype::Float16 => Observations::Float16(output("obs", given, &shape, claims)?),
            dtype => Observations::Bytes(dtype, output("obs", given, &shape, claims)?),
        })
    }

    pub fn slice(&mut self) -> PyResult<ObservationBuffer<'_>> {
        Ok(match self {
            Observations::Float32(buffer) => ObservationBuffer::Float32(slice(buffer)?),
            Observations::Float16(buffer) => ObservationBuffer::Float16(slice(buffer)?),
            Observations::Bytes(Dtype::Bits, buffer) => ObservationBuffer::Bits(slice(buffer)?),
            Observations::Bytes(_, buffer) => ObservationBuffer::Uint8(slice(buffer)?),
        })
    }
}

/// The shape of the observations of so many games.
pub(super) fn observation_shape(batch: &batch::Batch, games: usize) -> Vec<usize> {
    match batch.options().observers {
        batch::Observers::Current => vec![games, batch.row_length()],
        batch::Observers::All => vec![games, batch.observers(), batch.row_length()],
    }
}

/// A new array. numpy's own function, since the crate's panics when there is no memory.
fn zeros<'py, T: Element>(py: Python<'py>, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    static ZEROS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let function = ZEROS.import(py, "numpy", "zeros")?;
    function.call1((PyTuple::new(py, shape)?, T::get_dtype(py)))
}

/// A new observation array for so many games.
pub(super) fn new_observations<'py>(
    py: Python<'py>,
    batch: &batch::Batch,
    games: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let shape = observation_shape(batch, games);
    match batch.options().dtype {
        Dtype::Float32 => zeros::<f32>(py, &shape),
        Dtype::Float16 => zeros::<f16>(py, &shape),
        Dtype::Uint8 | Dtype::Bits => zeros::<u8>(py, &shape),
    }
}

/// Observation arrays that were handed out: one is used again once nobody else holds it, since
/// fresh memory costs about as much as a whole step.
#[derive(Default)]
pub(super) struct ArrayPool {
    arrays: Mutex<Vec<Py<PyAny>>>,
}

/// Who holds an array, the pool included. Views and tensors of it hold it too.
fn holders(array: &Py<PyAny>) -> isize {
    // SAFETY: the pointer is that of a live object, and the interpreter is held wherever a `Bound`
    // array is made from it.
    unsafe { pyo3::ffi::Py_REFCNT(array.as_ptr()) }
}

impl ArrayPool {
    const CAPACITY: usize = 4;

    fn observations<'py>(
        &self,
        py: Python<'py>,
        batch: &batch::Batch,
    ) -> PyResult<Bound<'py, PyAny>> {
        let games = batch.num_envs();
        let mut arrays = self.arrays.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever held the array may have changed its shape or flags; then it is dropped.
        arrays.retain(|array| {
            holders(array) > 1
                || Observations::borrow(batch, array.bind(py), games, &mut Claims::default())
                    .is_ok()
        });
        if let Some(unused) = arrays.iter().find(|array| holders(array) == 1) {
            return Ok(unused.bind(py).clone());
        }
        let array = new_observations(py, batch, games)?;
        if arrays.len() < Self::CAPACITY {
            arrays.push(array.clone().unbind());
        }
        Ok(array)
    }
}

macro_rules! buffers {
    ($($name:ident: $type:ty),+ $(,)?) => {
        /// The names of all buffers.
        pub(super) const NAMES: &[&str] = &["obs", "action_mask", $(stringify!($name)),+];

        /// The arrays of one call.
        #[derive(Default)]
        pub(super) struct Buffers<'py> {
            obs: Option<Observations<'py>>,
            action_mask: Option<PyReadwriteArrayDyn<'py, bool>>,
            $($name: Option<PyReadwriteArrayDyn<'py, $type>>,)+
        }

        impl<'py> Buffers<'py> {
            /// Borrows the arrays of a dictionary; a name may be missing or None.
            pub fn borrow(batch: &batch::Batch, given: &Bound<'py, PyDict>) -> PyResult<Self> {
                let games = batch.num_envs();
                let item = |name| Ok::<_, PyErr>(given.get_item(name)?.filter(|item| !item.is_none()));
                let (mut buffers, mut claims) = (Buffers::default(), Claims::default());
                if let Some(array) = item("obs")? {
                    buffers.obs = Some(Observations::borrow(batch, &array, games, &mut claims)?);
                }
                if let Some(array) = item("action_mask")? {
                    let shape = [games, batch.variant().num_actions()];
                    buffers.action_mask = Some(output("action_mask", &array, &shape, &mut claims)?);
                }
                $(if let Some(array) = item(stringify!($name))? {
                    buffers.$name = Some(output(stringify!($name), &array, &[games], &mut claims)?);
                })+
                Ok(buffers)
            }

            pub fn slices(&mut self) -> PyResult<Outputs<'_>> {
                Ok(Outputs {
                    obs: self.obs.as_mut().map(Observations::slice).transpose()?,
                    action_mask: self.action_mask.as_mut().map(slice).transpose()?,
                    $($name: self.$name.as_mut().map(slice).transpose()?,)+
                })
            }
        }

        /// New arrays for all outputs; the observations' from the pool.
        pub(super) fn allocate<'py>(
            py: Python<'py>,
            batch: &batch::Batch,
            pool: &ArrayPool,
        ) -> PyResult<Bound<'py, PyDict>> {
            let games = batch.num_envs();
            let arrays = PyDict::new(py);
            arrays.set_item("obs", pool.observations(py, batch)?)?;
            arrays.set_item("action_mask", zeros::<bool>(py, &[games, batch.variant().num_actions()])?)?;
            $(arrays.set_item(stringify!($name), zeros::<$type>(py, &[games])?)?;)+
            Ok(arrays)
        }
    };
}

buffers! {
    reward: f32,
    terminated: bool,
    truncated: bool,
    current_player: i32,
    score: i32,
    final_score: i32,
    final_length: i32,
    final_ending: i8,
    illegal_action: bool,
}
