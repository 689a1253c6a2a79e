//! The networks of trained policies, evaluated from Python.

use std::iter;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::bindings::arguments::text::Text;
use crate::bindings::arrays::check::{check_dtype, untyped};
use crate::bindings::arrays::copies::read_numbers;
use crate::bindings::arrays::numbers::Number;
use crate::bindings::arrays::vectors::{collect, with_capacity};
use crate::bindings::errors::ArrayError;
use crate::bindings::interruptible::detached;
use crate::nn::{Policy, PolicyScratch, load_policy};
use crate::players::PlayerSpecError;
use crate::threads::is_stopped;

/// The most rows that are computed without looking for signals: a row takes up to 0.1 milliseconds.
const INTERRUPTIBLE: usize = 1 << 11;

/// The network of a policy file.
#[pyclass(frozen, module = "starmine")]
pub struct _Network(pub Arc<Policy>);

/// Logits and values.
type NetworkOutputs<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<f32>>);

#[pymethods]
impl _Network {
    /// Reads a policy file; errors call it by this name.
    ///
    /// Raises:
    ///     SerializationError: the bytes are not a policy file.
    #[new]
    fn new(name: Text, data: &[u8]) -> PyResult<_Network> {
        Ok(_Network(load_policy(&name, data).map_err(PlayerSpecError::from)?))
    }

    /// The file's metadata as JSON text.
    #[getter]
    fn metadata(&self) -> &str {
        self.0.header()
    }

    /// Evaluates the network.
    ///
    /// Args:
    ///     observations: uint8 (K, D), each element 0 or 1.
    ///
    /// Returns:
    ///     Logits float32 (K, A) and values float32 (K,).
    ///
    /// Raises:
    ///     ArrayError: an array of another shape or dtype, or an element that is neither 0 nor 1.
    fn logits<'py>(
        &self,
        py: Python<'py>,
        observations: &Bound<'py, PyAny>,
    ) -> PyResult<NetworkOutputs<'py>> {
        let policy = &self.0;
        let words = read_observations(observations, policy.num_bits())?;
        let rows = words.len() / policy.num_bits().div_ceil(64);
        let actions = policy.variant().num_actions();
        let mut logits = with_capacity("logits", rows * actions)?;
        let mut values = with_capacity("values", rows)?;
        let compute = || {
            compute(policy, &words, |of_actions, value| {
                logits.extend_from_slice(of_actions);
                values.push(value);
            });
        };
        detached(rows > INTERRUPTIBLE, py, compute)?;
        Ok((logits.into_pyarray(py).reshape([rows, actions])?, values.into_pyarray(py)))
    }
}

/// The features of each row as packed bits, in whole words.
fn read_observations(given: &Bound<'_, PyAny>, features: usize) -> PyResult<Vec<u64>> {
    let array = untyped("observations", given)?;
    check_dtype("observations", array, u8::TYPE)?;
    let rows = match *array.shape() {
        [rows, columns] if columns == features => rows,
        ref found => {
            return Err(ArrayError::new_err(format!(
                "observations has shape {found:?}: expected (K, {features})"
            )));
        }
    };
    let row_words = features.div_ceil(64);
    let mut words = collect("observations", rows * row_words, iter::repeat(0))?;
    read_numbers("observations", array, |elements: &[u8]| {
        let rows = elements.chunks_exact(features).zip(words.chunks_exact_mut(row_words));
        for (row, (elements, words)) in rows.enumerate() {
            if let Some(column) = elements.iter().position(|&feature| feature > 1) {
                let feature = elements[column];
                return Err(ArrayError::new_err(format!(
                    "observations has {feature} at ({row}, {column}): expected 0 or 1"
                )));
            }
            for (word, elements) in words.iter_mut().zip(elements.chunks(64)) {
                let bits = elements.iter().enumerate();
                *word = bits.fold(0, |word, (bit, &feature)| word | u64::from(feature) << bit);
            }
        }
        Ok(())
    })?;
    Ok(words)
}

/// Passes the logits and the value of each row to `put`, up to the row at which the call is stopped.
fn compute(policy: &Policy, words: &[u64], mut put: impl FnMut(&[f32], f32)) {
    let mut scratch = PolicyScratch::default();
    let chunks = words.chunks(Policy::BATCH_SIZE * policy.num_bits().div_ceil(64));
    for words in chunks.take_while(|_| !is_stopped()) {
        for outputs in policy.logits(words, &mut scratch).chunks_exact(policy.num_outputs()) {
            let (value, of_actions) = outputs.split_last().expect("the last output is the value");
            put(of_actions, *value);
        }
    }
}
