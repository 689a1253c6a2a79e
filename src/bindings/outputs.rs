//! The buffers of one call: checked numpy arrays of the caller, or new ones.

use half::f16;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::arrays::{Memory, Number, check_output, output};
use super::claims::{Claims, Held, MOST};
use super::pool::{ArrayPool, zeros};
use crate::batch::{Batch, Dtype, ObservationBuffer, Observers, Outputs};

/// Observations of any dtype.
pub(super) enum Observations<'a> {
    Float32(Memory<'a, f32>),
    Float16(Memory<'a, f16>),
    Uint8(Memory<'a, u8>),
    Bits(Memory<'a, u8>),
}

impl<'a> Observations<'a> {
    /// Checks a buffer for the observations of so many games, which is all that the call writes.
    pub fn alone(
        batch: &Batch,
        given: &'a Bound<'_, PyAny>,
        games: usize,
    ) -> PyResult<Observations<'a>> {
        Observations::checked(batch, given, games, &mut Claims::none())
    }

    fn checked(
        batch: &Batch,
        given: &'a Bound<'_, PyAny>,
        games: usize,
        claims: &mut Claims,
    ) -> PyResult<Observations<'a>> {
        let (axes, shape) = observation_shape(batch, games);
        let shape = &shape[..axes];
        Ok(match batch.options().dtype {
            Dtype::Float32 => Observations::Float32(output("obs", given, shape, claims)?),
            Dtype::Float16 => Observations::Float16(output("obs", given, shape, claims)?),
            Dtype::Uint8 => Observations::Uint8(output("obs", given, shape, claims)?),
            Dtype::Bits => Observations::Bits(output("obs", given, shape, claims)?),
        })
    }

    pub fn slice<'b>(&'b mut self, held: &'b Held) -> ObservationBuffer<'b> {
        match self {
            Observations::Float32(memory) => ObservationBuffer::Float32(memory.slice(held)),
            Observations::Float16(memory) => ObservationBuffer::Float16(memory.slice(held)),
            Observations::Uint8(memory) => ObservationBuffer::Uint8(memory.slice(held)),
            Observations::Bits(memory) => ObservationBuffer::Bits(memory.slice(held)),
        }
    }
}

/// The number of axes and the shape of the observations of so many games.
fn observation_shape(batch: &Batch, games: usize) -> (usize, [usize; 3]) {
    match batch.options().observers {
        Observers::Current => (2, [games, batch.row_length(), 0]),
        Observers::All => (3, [games, batch.observers(), batch.row_length()]),
    }
}

/// Whether an array still is what a row of one game's observations is.
pub(super) fn is_row(batch: &Batch, row: &Bound<'_, PyAny>) -> bool {
    let (axes, shape) = observation_shape(batch, 1);
    let shape = &shape[1..axes];
    match batch.options().dtype {
        Dtype::Float32 => check_output::<f32>("", row, shape).is_ok(),
        Dtype::Float16 => check_output::<f16>("", row, shape).is_ok(),
        Dtype::Uint8 | Dtype::Bits => check_output::<u8>("", row, shape).is_ok(),
    }
}

/// A new observation array for so many games.
pub(super) fn new_observations<'py>(
    py: Python<'py>,
    batch: &Batch,
    games: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (axes, shape) = observation_shape(batch, games);
    match batch.options().dtype {
        Dtype::Float32 => zeros::<f32>(py, &shape[..axes]),
        Dtype::Float16 => zeros::<f16>(py, &shape[..axes]),
        Dtype::Uint8 | Dtype::Bits => zeros::<u8>(py, &shape[..axes]),
    }
}

/// An array of the pool, or a new one for it.
fn pooled<'py, T: Number>(
    py: Python<'py>,
    pool: &ArrayPool,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let is_sound = |array: &Bound<'py, PyAny>| check_output::<T>("", array, shape).is_ok();
    pool.take(py, is_sound, || zeros::<T>(py, shape))
}

macro_rules! buffers {
    ($($name:ident: $type:ty),+ $(,)?) => {
        /// The checked arrays of one call.
        pub(super) struct Buffers<'a> {
            obs: Option<Observations<'a>>,
            action_mask: Option<Memory<'a, bool>>,
            $($name: Option<Memory<'a, $type>>,)+
        }

        impl<'a> Buffers<'a> {
            /// Checks the arrays that are given, and claims their memory.
            pub fn check(
                batch: &Batch,
                given: Given<'a, '_>,
                claims: &mut Claims,
            ) -> PyResult<Self> {
                let games = batch.num_envs();
                let [obs, action_mask, $($name),+] = given;
                let obs = obs.map(|array| Observations::checked(batch, array, games, claims));
                let obs = obs.transpose()?;
                let mask_shape = [games, batch.variant().num_actions()];
                let action_mask =
                    action_mask.map(|array| output("action_mask", array, &mask_shape, claims));
                let action_mask = action_mask.transpose()?;
                $(let $name = $name.map(|array| output(stringify!($name), array, &[games], claims));
                let $name = $name.transpose()?;)+
                Ok(Buffers { obs, action_mask, $($name,)+ })
            }

            pub fn slices<'b>(&'b mut self, held: &'b Held) -> Outputs<'b> {
                Outputs {
                    obs: self.obs.as_mut().map(|memory| memory.slice(held)),
                    action_mask: self.action_mask.as_mut().map(|memory| memory.slice(held)),
                    $($name: self.$name.as_mut().map(|memory| memory.slice(held)),)+
                }
            }
        }

        /// The arrays that a batch has handed out, by name.
        #[derive(Default)]
        pub(super) struct Pools {
            obs: ArrayPool,
            action_mask: ArrayPool,
            $($name: ArrayPool,)+
        }

        impl Pools {
            /// Arrays for all outputs.
            pub fn take<'py>(&self, py: Python<'py>, batch: &Batch) -> PyResult<Arrays<'py>> {
                let games = batch.num_envs();
                let is_sound = |array: &_| Observations::alone(batch, array, games).is_ok();
                Ok([
                    self.obs.take(py, is_sound, || new_observations(py, batch, games))?,
                    pooled::<bool>(py, &self.action_mask, &[games, batch.variant().num_actions()])?,
                    $(pooled::<$type>(py, &self.$name, &[games])?,)+
                ])
            }
        }

        /// The arrays by name.
        pub(super) fn dictionary(py: Python<'_>, arrays: Arrays<'_>) -> PyResult<Py<PyDict>> {
            let [obs, action_mask, $($name),+] = arrays;
            let dictionary = PyDict::new(py);
            dictionary.set_item(intern!(py, "obs"), obs)?;
            dictionary.set_item(intern!(py, "action_mask"), action_mask)?;
            $(dictionary.set_item(intern!(py, stringify!($name)), $name)?;)+
            Ok(dictionary.unbind())
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

/// What a call was given for each name.
pub(super) type Given<'a, 'py> = [Option<&'a Bound<'py, PyAny>>; MOST];

/// An array for each name.
pub(super) type Arrays<'py> = [Bound<'py, PyAny>; MOST];
