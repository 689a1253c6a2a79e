//! Features by colour.

use half::{bf16, f16};
use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;

use crate::batch::MAX_THREADS;
use crate::bindings::arguments::numbers::{Integer, count};
use crate::bindings::arguments::text::Text;
use crate::bindings::arrays::check::for_dtype;
use crate::bindings::arrays::check::untyped;
use crate::bindings::arrays::unpack::unpack;
use crate::bindings::encode::layout::layout;
use crate::bindings::errors::{ArrayError, StarmineError};
use crate::bindings::rules::variant::read_variant;
use crate::buffers::packed_length;
use crate::encode::Encoder;
use crate::nn::{CardWeights, ColorActions, ColorFeatures};

/// The features by colour of packed observations, for `starmine.torch.ColorFeatures`.
#[pyclass(frozen, module = "starmine")]
pub struct _ColorFeatures {
    features: ColorFeatures,
    actions: ColorActions,
}

#[pymethods]
impl _ColorFeatures {
    /// Raises:
    ///     UnknownNameError: there is no such encoder or weighing.
    ///     StarmineError: the encoder lacks a section that the features need.
    #[new]
    fn new(variant: &Bound<'_, PyAny>, encoder: Text, weights: Text) -> PyResult<_ColorFeatures> {
        let (variant, encoder) = (read_variant(variant)?, encoder.parse::<Encoder>()?);
        let weights = weights.parse::<CardWeights>()?;
        let features = ColorFeatures::new(&variant, &encoder.layout(&variant), weights);
        let name = encoder.name();
        let problem =
            || format!("encoder={name:?} lacks the sections that features by colour need");
        let features = features.ok_or_else(|| StarmineError::new_err(problem()))?;
        Ok(_ColorFeatures { features, actions: ColorActions::of(&variant) })
    }

    /// Number of colours.
    #[getter]
    fn colors(&self) -> usize {
        self.features.colors()
    }

    /// The sections of the row of a colour.
    #[getter]
    fn row<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        layout(py, self.features.row())
    }

    /// The sections of the row of what belongs to no colour.
    #[getter]
    fn rest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        layout(py, self.features.rest())
    }

    /// For each action its head and the colour that it names: actions that differ in their colour alone
    /// have one head, after those of the actions without a colour.
    #[getter]
    fn actions(&self) -> Vec<(usize, Option<usize>)> {
        self.actions.heads.clone()
    }

    /// The number of heads: of actions without a colour, and of groups of those that differ in it.
    #[getter]
    fn heads(&self) -> (usize, usize) {
        (self.actions.plain, self.actions.groups)
    }

    /// Writes the features of packed observations.
    ///
    /// Args:
    ///     bits: uint8 (..., 8 * ceil(D / 64)), contiguous, little bit order.
    ///     out: (..., colors * len(row) + len(rest)), contiguous: float32, float16, or uint16 for the bits
    ///         of bfloat16, which numpy lacks.
    ///     num_threads: the most threads to use, 1 to 1024.
    ///
    /// Raises:
    ///     ArrayError: an array of the wrong shape, dtype or layout, arrays that overlap, or memory that
    ///         another call uses.
    ///     StarmineError: `num_threads` is out of range.
    ///     KeyboardInterrupt: Ctrl-C. `out` is written in part then.
    #[pyo3(signature = (bits, out, num_threads=Integer::new(1)), text_signature = "(self, bits, out, num_threads=1)")]
    #[allow(clippy::needless_pass_by_value, reason = "as pyo3 gives it")]
    fn write(
        &self,
        bits: &Bound<'_, PyAny>,
        out: &Bound<'_, PyAny>,
        num_threads: Integer,
    ) -> PyResult<()> {
        let num_threads = count("num_threads", &num_threads, 1..=MAX_THREADS)?;
        let (packed, array) = (untyped("bits", bits)?, untyped("out", out)?);
        let (row_bytes, length) = (packed_length(self.features.bits()), self.features.len());
        let rows = match packed.shape().split_last() {
            Some((&bytes, rows)) if bytes == row_bytes => rows,
            _ => {
                let shape = packed.shape();
                return Err(ArrayError::new_err(format!(
                    "bits has shape {shape:?}: expected rows of {row_bytes} bytes"
                )));
            }
        };
        let shape = [rows, &[length]].concat();
        for_dtype!("out", array, [f32, f16, bf16], T => {
            unpack::<T>(bits, out, &shape, [row_bytes, length], |bits, out| {
                self.features.write_rows(bits, out, num_threads)
            })
        })
    }
}
