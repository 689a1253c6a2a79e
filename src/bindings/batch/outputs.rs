//! The arrays of a batch's outputs: those that a caller gives, and those that we make.

use std::sync::Mutex;

use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::batch::{Axis, Batch, BatchError, Dtype, ObservationBuffer, Outputs, for_each_output};
use crate::bindings::arrays::check::data_address;
use crate::bindings::arrays::check::{Access, ArraySpec};
use crate::bindings::arrays::claims::{Claims, Interpreter, Memory, Reservation};
use crate::bindings::arrays::numbers::{Number, NumberType};

/// Number of outputs.
pub const COUNT: usize = Outputs::NAMES.len();

/// The arrays that a caller gives, in the order of the table of outputs. An output without one is not
/// written.
pub type GivenArrays<'a, 'py> = [Option<&'a Bound<'py, PyAny>>; COUNT];

/// Arrays of our own, in the order of the table of outputs.
pub struct OwnArrays<'py> {
    arrays: Vec<Bound<'py, PyUntypedArray>>,
    /// Arrays of the pools that Python code has changed. They are dropped with the others, after the
    /// call, since dropping an array may run Python code.
    _changed: Vec<PooledArray>,
}

/// The arrays of all outputs of one batch.
pub struct OutputArrays {
    outputs: [Output; COUNT],
    dtype: Dtype,
}

/// What the array of one output is, and the arrays of it that we made.
struct Output {
    name: &'static str,
    key: Py<PyString>,
    element: &'static NumberType,
    shape: Vec<usize>,
    /// Whether calls that allocate the arrays return this output.
    is_wanted: bool,
    pool: ArrayPool,
}

impl Output {
    fn new(
        py: Python<'_>,
        name: &'static str,
        element: &'static NumberType,
        shape: Vec<usize>,
    ) -> Output {
        Output {
            name,
            key: PyString::intern(py, name).unbind(),
            element,
            shape,
            is_wanted: true,
            pool: ArrayPool::default(),
        }
    }

    fn spec(&self) -> ArraySpec<'_> {
        ArraySpec { name: self.name, dtype: self.element, shape: &self.shape }
    }
}

impl OutputArrays {
    pub fn new(py: Python<'_>, batch: &Batch) -> OutputArrays {
        OutputArrays { outputs: all_outputs(py, batch), dtype: batch.options().dtype }
    }

    /// Limits the arrays of our own to these outputs.
    pub fn with_only(mut self, is_wanted: impl Fn(&str) -> bool) -> OutputArrays {
        self.outputs.iter_mut().for_each(|output| output.is_wanted = is_wanted(output.name));
        self
    }

    /// The outputs that have arrays of our own, with their indices.
    fn wanted(&self) -> impl Iterator<Item = (usize, &Output)> {
        self.outputs.iter().enumerate().filter(|(_, output)| output.is_wanted)
    }

    /// Checks the arrays of a caller and claims them for writing.
    pub fn check<'a>(
        &self,
        given: GivenArrays<'a, '_>,
        claims: &mut Claims<'a, COUNT>,
    ) -> PyResult<()> {
        for (index, (output, given)) in self.outputs.iter().zip(given).enumerate() {
            if let Some(array) = given {
                claims.write(index, output.spec().check(array, Access::Write)?);
            }
        }
        Ok(())
    }

    /// Arrays of our own for the wanted outputs. Nobody else holds them. No Python code runs before this returns.
    pub fn take<'py>(&self, py: Python<'py>) -> PyResult<OwnArrays<'py>> {
        let mut changed = Vec::new();
        let take = |(_, output): (_, &Output)| output.pool.take(py, output.spec(), &mut changed);
        let arrays = self.wanted().map(take).collect::<PyResult<_>>()?;
        Ok(OwnArrays { arrays, _changed: changed })
    }

    /// Claims our own arrays for writing. They need no check, since no Python code has run since
    /// `take`.
    pub fn trust<'a>(&self, own: &'a OwnArrays<'_>, claims: &mut Claims<'a, COUNT>) {
        for ((index, output), array) in self.wanted().zip(&own.arrays) {
            claims.write_own(index, output.spec().trusted(array));
        }
    }

    /// The arrays by name.
    pub fn dictionary(&self, py: Python<'_>, own: &OwnArrays<'_>) -> PyResult<Py<PyDict>> {
        let dictionary = PyDict::new(py);
        for ((_, output), array) in self.wanted().zip(&own.arrays) {
            dictionary.set_item(&output.key, array)?;
        }
        Ok(dictionary.unbind())
    }

    /// The buffers of a call.
    pub fn buffers<'b>(&self, reserved: &'b mut Reservation<'_, '_, COUNT>) -> Outputs<'b> {
        buffers(reserved.memory(), self.dtype)
    }

    /// The output of observations.
    fn observations(&self) -> &Output {
        let obs = self.outputs.iter().find(|output| output.name == "obs");
        obs.expect("the table has a row for observations")
    }

    /// A new array for the observations of this many games, which `write` fills.
    pub fn new_observations<'py>(
        &self,
        py: Python<'py>,
        games: usize,
        mut write: impl FnMut(ObservationBuffer<'_>) -> Result<(), BatchError>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut shape = self.observations().shape.clone();
        shape[0] = games;
        let spec = ArraySpec { shape: &shape, ..self.observations().spec() };
        let array = spec.new_array(py)?;
        let mut claims = Claims::<1>::none();
        claims.write_own(0, spec.trusted(&array));
        let mut reserved = claims.reserve(Interpreter::Kept)?;
        for memory in reserved.memory().into_iter().flatten() {
            write(observation_buffer(memory, self.dtype))?;
        }
        drop(reserved);
        Ok(array.into_any())
    }
}

/// The type of the elements of observations.
fn observation_type(dtype: Dtype) -> &'static NumberType {
    match dtype {
        Dtype::Float32 => f32::TYPE,
        Dtype::Float16 => half::f16::TYPE,
        Dtype::Uint8 | Dtype::Bits => u8::TYPE,
    }
}

/// The buffer of observations, made of the memory that a call holds.
fn observation_buffer(memory: Memory<'_>, dtype: Dtype) -> ObservationBuffer<'_> {
    match dtype {
        Dtype::Float32 => ObservationBuffer::Float32(memory.write()),
        Dtype::Float16 => ObservationBuffer::Float16(memory.write()),
        Dtype::Uint8 => ObservationBuffer::Uint8(memory.write()),
        Dtype::Bits => ObservationBuffer::Bits(memory.write()),
    }
}

macro_rules! define_buffers {
    (
        $(#[$obs_doc:meta])* obs: $obs_buffer:ty = Box<[T]>, [$($obs_axis:ident),*];
        $($(#[$doc:meta])* $name:ident: $buffer:ty = Box<[$element:ty]>, [$($axis:ident),*];)+
    ) => {
        /// All outputs, in the order of the table.
        fn all_outputs(py: Python<'_>, batch: &Batch) -> [Output; COUNT] {
            let output = |name, element, axes: &[Axis]| Output::new(py, name, element, batch.shape(axes));
            [
                output("obs", observation_type(batch.options().dtype), &[$(Axis::$obs_axis),*]),
                $(output(stringify!($name), <$element>::TYPE, &[$(Axis::$axis),*])),+
            ]
        }

        fn buffers<'b>(memory: [Option<Memory<'b>>; COUNT], dtype: Dtype) -> Outputs<'b> {
            let [obs, $($name),+] = memory;
            Outputs {
                obs: obs.map(|memory| observation_buffer(memory, dtype)),
                $($name: $name.map(Memory::write),)+
            }
        }
    };
}

for_each_output!(define_buffers);

/// Arrays of one output that were handed out to Python. They are used again once nobody holds them.
/// With new arrays in each call a step takes 37 % longer with 64 games, and 10 % longer with 1,024.
#[derive(Default)]
struct ArrayPool(Mutex<Vec<PooledArray>>);

/// An array that was handed out.
struct PooledArray {
    array: Py<PyUntypedArray>,
    /// The address of its memory when it was made. Python code that held the array may have given it
    /// other memory, as unpickling does.
    address: usize,
}

impl PooledArray {
    /// The array, if only the pool holds it. Views, buffers and tensors of an array hold it too.
    fn unused<'py>(&self, py: Python<'py>) -> Option<&Bound<'py, PyUntypedArray>> {
        // SAFETY: the pointer is that of a live object, and the interpreter is held.
        let holders = unsafe { pyo3::ffi::Py_REFCNT(self.array.as_ptr()) };
        (holders == 1).then(|| self.array.bind(py))
    }
}

impl ArrayPool {
    const CAPACITY: usize = 4;

    /// An array that nobody else holds: one of the pool, or a new one. Those of the pool that Python
    /// code has changed are moved to `changed`.
    fn take<'py>(
        &self,
        py: Python<'py>,
        spec: ArraySpec<'_>,
        changed: &mut Vec<PooledArray>,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        let Ok(mut arrays) = self.0.try_lock() else { return spec.new_array(py) };
        let mut index = 0;
        while let Some(pooled) = arrays.get(index) {
            match pooled.unused(py) {
                None => index += 1,
                Some(array)
                    if data_address(array) == pooled.address && spec.is_unchanged(array) =>
                {
                    return Ok(array.clone());
                }
                Some(_) => changed.push(arrays.swap_remove(index)),
            }
        }
        let array = spec.new_array(py)?;
        if arrays.len() < Self::CAPACITY {
            let address = data_address(&array);
            arrays.push(PooledArray { array: array.clone().unbind(), address });
        }
        Ok(array)
    }
}
