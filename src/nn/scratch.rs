//! Memory of a forward pass.

use super::sparse_rows::SparseRows;

/// Scratch memory of forward passes, of any policy, which is used again. It grows with the number of rows.
#[derive(Clone, Debug, Default)]
pub struct PolicyScratch {
    /// The packed observations.
    pub(super) observations: Vec<u64>,
    /// The features of the rows.
    pub(super) features: Vec<f32>,
    pub(super) inputs: SparseRows,
    pub(super) sums: Vec<f32>,
    /// The part of a layer that all colours of a row share.
    pub(super) shared: Vec<f32>,
    /// The part of the features that belongs to no colour, after its layer.
    pub(super) rest: Vec<f32>,
    /// The units of each colour of each row.
    pub(super) towers: Vec<f32>,
    pub(super) pooled: Vec<f32>,
    pub(super) group_logits: Vec<f32>,
    pub(super) outputs: Vec<f32>,
}

/// Applies ReLU.
pub(super) fn relu(numbers: &mut [f32]) {
    numbers.iter_mut().for_each(|number| *number = number.max(0.0));
}
