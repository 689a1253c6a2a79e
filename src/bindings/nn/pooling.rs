//! Pooling over the colours and its gradient, for `starmine.torch`.

use std::array::from_fn;
use std::ffi::c_int;

use half::bf16;
use half::slice::HalfBitsSliceExt;
use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;

use crate::batch::MAX_THREADS;
use crate::bindings::arguments::numbers::{Integer, count};
use crate::bindings::arrays::memory::{Apart, ArraySpec, Claims, Number, type_number, untyped};
use crate::bindings::errors::ArrayError;
use crate::nn::{BufferError, Pooling, PoolingGradient, PoolingSize, Real, Simd};

/// The sizes of the arrays, of which the first is (N, colours, width).
fn sizes(name: &str, towers: &Bound<'_, PyAny>) -> PyResult<([[usize; 3]; 3], PoolingSize, c_int)> {
    let array = untyped(name, towers)?;
    let &[count, colors, width] = array.shape() else {
        let shape = array.shape();
        let problem = format!("{name} has shape {shape:?}: expected (games, colours, width)");
        return Err(ArrayError::new_err(problem));
    };
    let found = type_number(array);
    let allowed = [f32::TYPE.number, u16::TYPE.number];
    let Some(dtype) = found.filter(|dtype| allowed.contains(dtype)) else {
        let dtype = array.dtype();
        let problem = format!("{name} has dtype {dtype}: expected float32 or uint16");
        return Err(ArrayError::new_err(problem));
    };
    let shapes = [[count, colors, width], [count, width, 0], [count, 2 * width, 0]];
    Ok((shapes, PoolingSize { colors, width }, dtype))
}

/// The elements of an array, as the core takes them.
trait Stored: Number {
    type Real: Real;
    fn real(stored: &[Self]) -> &[Self::Real];
    fn real_mut(stored: &mut [Self]) -> &mut [Self::Real];
}

impl Stored for f32 {
    type Real = f32;
    fn real(stored: &[f32]) -> &[f32] {
        stored
    }
    fn real_mut(stored: &mut [f32]) -> &mut [f32] {
        stored
    }
}

impl Stored for u16 {
    type Real = bf16;
    fn real(stored: &[u16]) -> &[bf16] {
        stored.reinterpret_cast()
    }
    fn real_mut(stored: &mut [u16]) -> &mut [bf16] {
        stored.reinterpret_cast_mut()
    }
}

/// An array of a call, with its name and the shape that it must have.
type Array<'a, 'py> = (&'static str, &'a Bound<'py, PyAny>, &'a [usize]);

/// Calls the core with the numbers of the arrays, without the interpreter.
fn run<T: Stored, const INPUTS: usize, const OUTPUTS: usize>(
    inputs: [Array<'_, '_>; INPUTS],
    outputs: [Array<'_, '_>; OUTPUTS],
    call: impl FnOnce([&[T::Real]; INPUTS], [&mut [T::Real]; OUTPUTS]) -> Result<(), BufferError> + Send,
) -> PyResult<()> {
    let py = inputs[0].1.py();
    let mut claims = Claims::<6>::none();
    let dtype = T::TYPE;
    for (index, (name, array, shape)) in inputs.into_iter().enumerate() {
        claims.read(index, ArraySpec { name, dtype, shape }.check_output(array)?);
    }
    for (index, (name, array, shape)) in outputs.into_iter().enumerate() {
        claims.write(INPUTS + index, ArraySpec { name, dtype, shape }.check_output(array)?);
    }
    let mut held = claims.hold(&mut Apart::default(), false)?;
    let mut memory = held.memory().into_iter().flatten();
    let mut next = || memory.next().expect("one for each array");
    let inputs = from_fn(|_| T::real(next().numbers::<T>()));
    let outputs = from_fn(|_| T::real_mut(next().write::<T>()));
    Ok(py.detach(|| call(inputs, outputs))?)
}

/// The layer: `tower` gets the ReLU of each colour's row and what all colours share, and `pooled` its
/// mean and then its maximum over the colours.
///
/// Args:
///     rows: (N, colours, width), contiguous: float32, or uint16 for the bits of bfloat16.
///     shared: (N, width), of the same dtype, like all.
///     tower: (N, colours, width), written.
///     pooled: (N, 2 * width), written.
///     num_threads: the most threads to use, 1 to 1024.
///
/// Raises:
///     ArrayError: an array of the wrong shape, dtype or layout, arrays that overlap, or memory that
///         another call uses.
///     StarmineError: `num_threads` is out of range.
#[pyfunction]
#[pyo3(signature = (rows, shared, tower, pooled, num_threads=Integer::new(1)), text_signature = "(rows, shared, tower, pooled, num_threads=1)")]
#[allow(clippy::needless_pass_by_value, reason = "as pyo3 gives it")]
pub fn _pool(
    rows: &Bound<'_, PyAny>,
    shared: &Bound<'_, PyAny>,
    tower: &Bound<'_, PyAny>,
    pooled: &Bound<'_, PyAny>,
    num_threads: Integer,
) -> PyResult<()> {
    let num_threads = count("num_threads", &num_threads, 1..=MAX_THREADS)?;
    let simd = Simd::chosen()?;
    let ([of_tower, of_shared, of_pooled], size, dtype) = sizes("rows", rows)?;
    let (of_shared, of_pooled) = (&of_shared[..2], &of_pooled[..2]);
    let inputs = [("rows", rows, &of_tower[..]), ("shared", shared, of_shared)];
    let outputs = [("tower", tower, &of_tower[..]), ("pooled", pooled, of_pooled)];
    macro_rules! run_as {
        ($type:ty) => {
            run::<$type, 2, 2>(inputs, outputs, |[rows, shared], [tower, pooled]| {
                Pooling { rows, shared, tower, pooled }.run(simd, size, num_threads)
            })
        };
    }
    if dtype == f32::TYPE.number { run_as!(f32) } else { run_as!(u16) }
}

/// The gradients of the inputs of the layer. Colours that share a maximum share its gradient alike.
///
/// Args:
///     tower: (N, colours, width), as `_pool` wrote it.
///     pooled: (N, 2 * width), as `_pool` wrote it.
///     d_tower, d_pooled: their gradients.
///     d_rows: (N, colours, width), written.
///     d_shared: (N, width), written.
///     num_threads: the most threads to use, 1 to 1024.
///
/// Raises:
///     ArrayError: an array of the wrong shape, dtype or layout, arrays that overlap, or memory that
///         another call uses.
///     StarmineError: `num_threads` is out of range.
#[pyfunction]
#[pyo3(signature = (tower, pooled, d_tower, d_pooled, d_rows, d_shared, num_threads=Integer::new(1)), text_signature = "(tower, pooled, d_tower, d_pooled, d_rows, d_shared, num_threads=1)")]
#[allow(clippy::needless_pass_by_value, reason = "as pyo3 gives it")]
pub fn _pool_gradient(
    tower: &Bound<'_, PyAny>,
    pooled: &Bound<'_, PyAny>,
    d_tower: &Bound<'_, PyAny>,
    d_pooled: &Bound<'_, PyAny>,
    d_rows: &Bound<'_, PyAny>,
    d_shared: &Bound<'_, PyAny>,
    num_threads: Integer,
) -> PyResult<()> {
    let num_threads = count("num_threads", &num_threads, 1..=MAX_THREADS)?;
    let simd = Simd::chosen()?;
    let ([of_tower, of_shared, of_pooled], size, dtype) = sizes("tower", tower)?;
    let (of_shared, of_pooled) = (&of_shared[..2], &of_pooled[..2]);
    let inputs = [
        ("tower", tower, &of_tower[..]),
        ("pooled", pooled, of_pooled),
        ("d_tower", d_tower, &of_tower[..]),
        ("d_pooled", d_pooled, of_pooled),
    ];
    let outputs = [("d_rows", d_rows, &of_tower[..]), ("d_shared", d_shared, of_shared)];
    macro_rules! run_as {
        ($type:ty) => {
            run::<$type, 4, 2>(inputs, outputs, |inputs, [d_rows, d_shared]| {
                let [tower, pooled, d_tower, d_pooled] = inputs;
                PoolingGradient { tower, pooled, d_tower, d_pooled, d_rows, d_shared }.run(
                    simd,
                    size,
                    num_threads,
                )
            })
        };
    }
    if dtype == f32::TYPE.number { run_as!(f32) } else { run_as!(u16) }
}
