//! The buffers of one call: borrowed from numpy arrays, or allocated.

use half::f16;
use numpy::{Element, PyArrayDyn, PyReadwriteArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::arrays::{output, slice};
use crate::batch::{self, Dtype, ObservationBuffer, Outputs};

/// A borrowed observation buffer of any dtype.
pub(super) enum Observations<'py> {
    Float32(PyReadwriteArrayDyn<'py, f32>),
    Float16(PyReadwriteArrayDyn<'py, f16>),
    Bytes(Dtype, PyReadwriteArrayDyn<'py, u8>),
}

impl<'py> Observations<'py> {
    pub fn borrow(batch: &batch::Batch, given: &Bound<'py, PyAny>, games: usize) -> PyResult<Self> {
        let shape = observation_shape(batch, games);
        Ok(match batch.options().dtype {
            Dtype::Float32 => Observations::Float32(output("obs", given, &shape)?),
            Dtype::Float16 => Observations::Float16(output("obs", given, &shape)?),
            dtype => Observations::Bytes(dtype, output("obs", given, &shape)?),
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

fn zeros<'py, T: Element>(py: Python<'py>, shape: &[usize]) -> Bound<'py, PyAny> {
    PyArrayDyn::<T>::zeros(py, shape, false).into_any()
}

/// A new observation array for so many games.
pub(super) fn new_observations<'py>(
    py: Python<'py>,
    batch: &batch::Batch,
    games: usize,
) -> Bound<'py, PyAny> {
    let shape = observation_shape(batch, games);
    match batch.options().dtype {
        Dtype::Float32 => zeros::<f32>(py, &shape),
        Dtype::Float16 => zeros::<f16>(py, &shape),
        Dtype::Uint8 | Dtype::Bits => zeros::<u8>(py, &shape),
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
                let mut buffers = Buffers::default();
                if let Some(array) = item("obs")? {
                    buffers.obs = Some(Observations::borrow(batch, &array, games)?);
                }
                if let Some(array) = item("action_mask")? {
                    let shape = [games, batch.variant().num_actions()];
                    buffers.action_mask = Some(output("action_mask", &array, &shape)?);
                }
                $(if let Some(array) = item(stringify!($name))? {
                    buffers.$name = Some(output(stringify!($name), &array, &[games])?);
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

        /// New arrays for all outputs.
        pub(super) fn allocate<'py>(py: Python<'py>, batch: &batch::Batch) -> PyResult<Bound<'py, PyDict>> {
            let games = batch.num_envs();
            let arrays = PyDict::new(py);
            arrays.set_item("obs", new_observations(py, batch, games))?;
            arrays.set_item("action_mask", zeros::<bool>(py, &[games, batch.variant().num_actions()]))?;
            $(arrays.set_item(stringify!($name), zeros::<$type>(py, &[games]))?;)+
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
