//! Memory and arithmetic for many observations that pass a network together, so that its weights are read once for all
//! of them.

use super::linear::{Lanes, ROWS};

/// Scratch memory for [`Policy::logits_of_rows`](super::Policy::logits_of_rows).
#[derive(Clone, Debug, Default)]
pub struct PolicyRows {
    /// The packed observations, row by row.
    pub(super) observations: Vec<u64>,
    /// One observation's features, row by row.
    pub(super) features: Vec<Vec<f32>>,
    pub(super) inputs: Vec<u32>,
    pub(super) numbers: Vec<Lanes>,
    pub(super) sums: Vec<Lanes>,
    pub(super) shared: Vec<Lanes>,
    pub(super) towers: Vec<Vec<Lanes>>,
    pub(super) pooled: Vec<Lanes>,
    pub(super) group_logits: Vec<Vec<Lanes>>,
    pub(super) outputs: Vec<Lanes>,
}

/// Applies ReLU.
pub(super) fn relu(numbers: &mut [Lanes]) {
    numbers.as_flattened_mut().iter_mut().for_each(|number| *number = number.max(0.0));
}

/// Adds the shared part to that of a tower, and applies ReLU.
pub(super) fn add_relu(shared: &[Lanes], tower: &mut [Lanes]) {
    let shared = shared.as_flattened();
    for (own, shared) in tower.as_flattened_mut().iter_mut().zip(shared) {
        *own = (*own + shared).max(0.0);
    }
}

/// The mean and the maximum over the colours.
pub(super) fn pool(towers: &[Vec<Lanes>], pooled: &mut Vec<Lanes>) {
    let width = towers[0].len();
    pooled.clear();
    pooled.resize(2 * width, [0.0; ROWS]);
    let (mean, most) = pooled.split_at_mut(width);
    let (mean, most) = (mean.as_flattened_mut(), most.as_flattened_mut());
    for tower in towers {
        for ((mean, most), &number) in mean.iter_mut().zip(&mut *most).zip(tower.as_flattened()) {
            *mean += number;
            *most = most.max(number);
        }
    }
    mean.iter_mut().for_each(|mean| *mean /= towers.len() as f32);
}
