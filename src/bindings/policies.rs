//! Trained policies: those that come with the package, and what their networks compute.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::errors::ArrayError;
use crate::bots::{BotNameError, POLICIES, Policy, policy_bytes, shipped_policy};

/// policies() -> list[str]
///
/// The names of the trained policies that come with the package, which stand wherever a bot's name
/// does; "policy: ippo-2p; sampled" is one that draws its moves. A policy file of one's own is
/// "policy: path", or "policy: path; sampled".
#[pyfunction]
pub fn policies() -> Vec<&'static str> {
    POLICIES.iter().map(|policy| policy.name).collect()
}

/// _policy_bytes(name) -> bytes
///
/// The file of a policy that comes with the package, or the one at this path.
#[pyfunction]
pub fn _policy_bytes<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
    match shipped_policy(name) {
        Some(shipped) => Ok(PyBytes::new(py, shipped.bytes)),
        None => {
            let bytes = py.detach(|| policy_bytes(name)).map_err(BotNameError::from)?;
            Ok(PyBytes::new(py, &bytes))
        }
    }
}

/// The network of a policy file.
#[pyclass(frozen, module = "starmine")]
pub struct _Network(Policy);

/// Logits, values and memories.
type Computed<'py> =
    (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<f32>>, Bound<'py, PyArray2<f32>>);

#[pymethods]
impl _Network {
    /// Reads the bytes of the policy file of this name.
    #[new]
    fn new(name: &str, data: &[u8]) -> PyResult<_Network> {
        Ok(_Network(Policy::of_file(name, data).map_err(BotNameError::from)?))
    }

    /// The JSON text in which the file says what it plays.
    #[getter]
    fn metadata(&self) -> &str {
        self.0.header()
    }

    /// The logits of all actions float32 (K, A), the values float32 (K,) and the memories after the
    /// turn float32 (K, width) of observations uint8 (K, D) of zeros and ones, and of the memories
    /// before it, float32 (K, width); None for zeros. Without recurrence the width is 0.
    #[pyo3(signature = (observations, memory=None))]
    fn logits<'py>(
        &self,
        py: Python<'py>,
        observations: &Bound<'py, PyAny>,
        memory: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Computed<'py>> {
        let policy = &self.0;
        let width = policy.state_width();
        let words = read_observations(observations, policy.num_bits())?;
        let rows = words.len();
        let mut memories = match memory {
            Some(given) => read_memories(given, rows, width)?,
            None => vec![0.0; rows * width],
        };
        let outputs = py.detach(|| compute(policy, &words, &mut memories));
        let actions = policy.variant().num_actions();
        let logits = outputs.iter().flat_map(|row| &row[..actions]).copied();
        let logits: Vec<f32> = logits.collect();
        let values: Vec<f32> = outputs.iter().map(|row| row[actions]).collect();
        Ok((
            logits.into_pyarray(py).reshape([rows, actions])?,
            values.into_pyarray(py),
            memories.into_pyarray(py).reshape([rows, width])?,
        ))
    }
}

/// The bits of each row.
fn read_observations(given: &Bound<'_, PyAny>, features: usize) -> PyResult<Vec<Vec<u64>>> {
    let given: PyReadonlyArray2<'_, u8> = given.extract().map_err(|_| {
        let expected = format!("observations: expected a numpy array uint8 (K, {features})");
        ArrayError::new_err(expected)
    })?;
    let given = given.as_array();
    check_columns("observations", given.dim(), features, None)?;
    let mut words = vec![vec![0u64; features.div_ceil(64)]; given.nrows()];
    for ((row, column), &feature) in given.indexed_iter() {
        if feature > 1 {
            return Err(ArrayError::new_err(format!(
                "observations has {feature} at ({row}, {column}): expected 0 or 1"
            )));
        }
        words[row][column / 64] |= u64::from(feature) << (column % 64);
    }
    Ok(words)
}

/// The memories, one row after another.
fn read_memories(given: &Bound<'_, PyAny>, rows: usize, width: usize) -> PyResult<Vec<f32>> {
    let given: PyReadonlyArray2<'_, f32> = given.extract().map_err(|_| {
        ArrayError::new_err(format!("memory: expected a numpy array float32 ({rows}, {width})"))
    })?;
    let given = given.as_array();
    check_columns("memory", given.dim(), width, Some(rows))?;
    Ok(given.iter().copied().collect())
}

/// What the network says of each row, whose memory becomes that after the turn.
fn compute(policy: &Policy, words: &[Vec<u64>], memories: &mut [f32]) -> Vec<Vec<f32>> {
    let (width, mut scratch) = (policy.state_width(), policy.scratch());
    let row = |(row, words): (usize, &Vec<u64>)| {
        let memory = &mut memories[row * width..][..width];
        policy.logits(words, memory, &mut scratch).to_vec()
    };
    words.iter().enumerate().map(row).collect()
}

fn check_columns(
    name: &str,
    found: (usize, usize),
    columns: usize,
    rows: Option<usize>,
) -> PyResult<()> {
    if found == (rows.unwrap_or(found.0), columns) {
        return Ok(());
    }
    let expected = rows.map_or("K".to_owned(), |rows| rows.to_string());
    Err(ArrayError::new_err(format!(
        "{name} has shape {found:?}: expected ({expected}, {columns})"
    )))
}
