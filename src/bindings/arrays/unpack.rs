//! Packed observations, unpacked into the caller's array.

use half::{bf16, f16};
use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;

use crate::batch::MAX_THREADS;
use crate::bindings::arguments::numbers::{Integer, count};
use crate::bindings::arrays::check::for_dtype;
use crate::bindings::arrays::check::{Access, ArraySpec, untyped};
use crate::bindings::arrays::claims::{Claims, Interpreter};
use crate::bindings::arrays::numbers::Number;
use crate::bindings::errors::ArrayError;
use crate::buffers::{self, BufferError, InstructionSet, WriteOnly, packed_length};

/// The size in bytes of the output between two checks for signals: a fraction of a second.
const SIGNALS: usize = 1 << 28;

/// Writing at most this many bytes takes less time than releasing the interpreter and taking it again.
const KEEP_INTERPRETER: usize = 1 << 13;

/// unpack_bits_into(bits, out, num_threads=1)
///
/// Unpacks observations of dtype "bits". `starmine.torch.unpack_bits` does the same for tensors.
///
/// Args:
///     bits: uint8 (..., 8 * ceil(D / 64)), contiguous, little bit order.
///     out: (..., D), contiguous: float32, float16, uint8, or uint16 for the bits of bfloat16, which
///         numpy lacks. Each of the first D bits of a row becomes a 0 or 1.
///     num_threads: the most threads to use, 1 to 1024.
///
/// Raises:
///     ArrayError: an array of the wrong shape, dtype or layout, arrays that overlap, or memory that
///         another call uses.
///     StarmineError: `num_threads` is out of range.
///     KeyboardInterrupt: Ctrl-C. `out` is written in part then.
///
/// >>> import numpy as np
/// >>> from starmine._core import unpack_bits_into
/// >>> out = np.empty((1, 5), np.float32)
/// >>> unpack_bits_into(np.array([[0b10011, 0, 0, 0, 0, 0, 0, 0]], np.uint8), out)
/// >>> out
/// array([[1., 1., 0., 0., 1.]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (bits, out, num_threads=Integer::new(1)), text_signature = "(bits, out, num_threads=1)")]
#[allow(clippy::needless_pass_by_value, reason = "as pyo3 gives it")]
pub fn unpack_bits_into(
    bits: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    num_threads: Integer,
) -> PyResult<()> {
    let num_threads = count("num_threads", &num_threads, 1..=MAX_THREADS)?;
    let simd = InstructionSet::chosen()?;
    let (packed, array) = (untyped("bits", bits)?, untyped("out", out)?);
    let shape = expected_shape(packed.shape(), array.shape())?;
    let num_features = shape[shape.len() - 1];
    let row_lengths = [packed_length(num_features), num_features];
    for_dtype!("out", array, [f32, f16, bf16, u8], T => {
        unpack::<T>(bits, out, &shape, row_lengths, |bits, out| {
            buffers::unpack_bits(simd, bits, num_features, out, num_threads)
        })
    })
}

/// The shape that `out` must have: that of `bits`, but with rows as long as those of `out`.
fn expected_shape(packed: &[usize], out: &[usize]) -> PyResult<Vec<usize>> {
    let Some((&num_features, _)) = out.split_last() else {
        return Err(ArrayError::new_err("out has shape []: expected rows of elements"));
    };
    let Some((&row_bytes, rows)) = packed.split_last() else {
        return Err(ArrayError::new_err("bits has shape []: expected rows of bytes"));
    };
    let expected = packed_length(num_features);
    if row_bytes != expected {
        return Err(ArrayError::new_err(format!(
            "bits has rows of {row_bytes} bytes: expected {expected} for {num_features} features"
        )));
    }
    Ok([rows, &[num_features]].concat())
}

/// Calls `write` with the memory of both arrays, without the interpreter if there is much to write. A
/// signal's handler that raises leaves `out` written in part.
pub fn unpack<T: Number + Send>(
    bits: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    shape: &[usize],
    [bytes, elements]: [usize; 2],
    write: impl Fn(&[u8], WriteOnly<'_, T>) -> Result<(), BufferError> + Sync,
) -> PyResult<()> {
    let py = bits.py();
    let packed_shape = [&shape[..shape.len() - 1], &[bytes]].concat();
    let packed = ArraySpec { name: "bits", dtype: u8::TYPE, shape: &packed_shape };
    let out = ArraySpec { name: "out", dtype: T::TYPE, shape }.check(out, Access::Write)?;
    let keeps_interpreter = out.bytes() <= KEEP_INTERPRETER;
    let mut claims = Claims::<2>::none();
    claims.read(0, packed.check(bits, Access::Read)?);
    claims.write(1, out);
    let mut reserved = claims.reserve(Interpreter::kept_if(keeps_interpreter))?;
    let [Some(bits), Some(out)] = reserved.memory() else { unreachable!("both are claimed") };
    let (bits, out) = (bits.read::<u8>(), out.write::<T>());
    if keeps_interpreter {
        return Ok(write(bits, out)?);
    }
    let rows = (SIGNALS / (elements * size_of::<T>())).max(1);
    for (bits, out) in bits.chunks(rows * bytes).zip(out.elements().chunks_mut(rows * elements)) {
        py.detach(|| write(bits, WriteOnly::uninit(out)))?;
        py.check_signals()?;
    }
    Ok(())
}
