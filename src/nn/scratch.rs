use super::linear::{Accumulator, Inputs};

/// Scratch memory of a forward pass, which therefore allocates nothing.
#[derive(Clone, Debug)]
pub struct PolicyScratch {
    pub(super) inputs: Inputs,
    pub(super) sums: Accumulator,
    pub(super) old_sums: Accumulator,
    pub(super) colors: Option<ColorScratch>,
}

impl PolicyScratch {
    /// Memory for so many inputs of a layer and so many outputs.
    pub(super) fn new(
        inputs: usize,
        outputs: usize,
        is_recurrent: bool,
        colors: Option<ColorScratch>,
    ) -> PolicyScratch {
        PolicyScratch {
            inputs: Inputs::with_capacity(inputs),
            sums: Accumulator::new(outputs),
            old_sums: Accumulator::new(if is_recurrent { outputs } else { 0 }),
            colors,
        }
    }
}

/// Scratch memory of a forward pass by colour.
#[derive(Clone, Debug)]
pub(super) struct ColorScratch {
    pub features: Vec<f32>,
    /// The sums of the part that all colours share.
    pub shared: Accumulator,
    /// What each colour's tower gives: colour by colour.
    pub towers: Vec<f32>,
    /// The mean and the maximum over the colours.
    pub pooled: Vec<f32>,
    pub trunk: Inputs,
    pub group_logits: Vec<f32>,
    pub outputs: Vec<f32>,
}
