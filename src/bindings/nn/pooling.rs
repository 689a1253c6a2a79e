//! Pooling over the colours and its gradient, for `starmine.torch`.

use std::array::from_fn;

use half::bf16;
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::batch::MAX_THREADS;
use crate::bindings::arguments::numbers::{Integer, count};
use crate::bindings::arrays::check::for_dtype;
use crate::bindings::arrays::check::{Access, ArraySpec, untyped};
use crate::bindings::arrays::claims::{Claims, Interpreter};
use crate::bindings::arrays::numbers::Number;
use crate::bindings::errors::ArrayError;
use crate::buffers::{BufferError, InstructionSet, WriteOnly};
use crate::nn::{Pooling, PoolingGradient, PoolingSize, Real};

/// The shapes of the towers, of the rows of each game and of what is pooled, and the sizes of a layer.
type Sizes = ([usize; 3], [usize; 2], [usize; 2], PoolingSize);

/// The shapes of the towers, (N, colours, width), of the rows of each game and of what is pooled.
fn sizes(name: &str, towers: &Bound<'_, PyUntypedArray>) -> PyResult<Sizes> {
    let &[count, colors, width] = towers.shape() else {
        let shape = towers.shape();
        let problem = format!("{name} has shape {shape:?}: expected (games, colours, width)");
        return Err(ArrayError::new_err(problem));
    };
    let size = PoolingSize { colors, width };
    Ok(([count, colors, width], [count, width], [count, 2 * width], size))
}

/// An array of a call, with its name and the shape that it must have.
type Array<'a, 'py> = (&'static str, &'a Bound<'py, PyAny>, &'a [usize]);

/// Calls the core with the numbers of the arrays, without the interpreter.
fn run<T: Number + Real, const INPUTS: usize, const OUTPUTS: usize>(
    inputs: [Array<'_, '_>; INPUTS],
    outputs: [Array<'_, '_>; OUTPUTS],
    call: impl FnOnce([&[T]; INPUTS], [WriteOnly<'_, T>; OUTPUTS]) -> Result<(), BufferError> + Send,
) -> PyResult<()> {
    let py = inputs[0].1.py();
    let mut claims = Claims::<6>::none();
    let dtype = T::TYPE;
    for (index, (name, array, shape)) in inputs.into_iter().enumerate() {
        claims.read(index, ArraySpec { name, dtype, shape }.check(array, Access::Read)?);
    }
    for (index, (name, array, shape)) in outputs.into_iter().enumerate() {
        claims.write(INPUTS + index, ArraySpec { name, dtype, shape }.check(array, Access::Write)?);
    }
    let mut reserved = claims.reserve(Interpreter::Released)?;
    let mut memory = reserved.memory().into_iter().flatten();
    let mut next = || memory.next().expect("one for each array");
    let inputs = from_fn(|_| next().read::<T>());
    let outputs = from_fn(|_| next().write::<T>());
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
    let simd = InstructionSet::chosen()?;
    let array = untyped("rows", rows)?;
    let (of_tower, of_shared, of_pooled, size) = sizes("rows", array)?;
    let inputs = [("rows", rows, &of_tower[..]), ("shared", shared, &of_shared)];
    let outputs = [("tower", tower, &of_tower[..]), ("pooled", pooled, &of_pooled)];
    for_dtype!("rows", array, [f32, bf16], T => {
        run::<T, 2, 2>(inputs, outputs, |[rows, shared], [tower, pooled]| {
            Pooling { rows, shared, tower, pooled }.run(simd, size, num_threads)
        })
    })
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
    let simd = InstructionSet::chosen()?;
    let array = untyped("tower", tower)?;
    let (of_tower, of_shared, of_pooled, size) = sizes("tower", array)?;
    let inputs = [
        ("tower", tower, &of_tower[..]),
        ("pooled", pooled, &of_pooled),
        ("d_tower", d_tower, &of_tower),
        ("d_pooled", d_pooled, &of_pooled),
    ];
    let outputs = [("d_rows", d_rows, &of_tower[..]), ("d_shared", d_shared, &of_shared)];
    for_dtype!("tower", array, [f32, bf16], T => {
        run::<T, 4, 2>(inputs, outputs, |[tower, pooled, d_tower, d_pooled], [d_rows, d_shared]| {
            let layer = PoolingGradient { tower, pooled, d_tower, d_pooled, d_rows, d_shared };
            layer.run(simd, size, num_threads)
        })
    })
}
