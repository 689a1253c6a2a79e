use super::features::CardFeatures;
use super::layer::{Inputs, Layer, Sums};
use super::norm::Norm;

/// A network: hidden layers, then perhaps a memory, then the heads.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Network {
    /// Bits of an observation.
    pub bits: usize,
    pub card_features: Option<CardFeatures>,
    pub trunk: Vec<Hidden>,
    pub memory: Option<Memory>,
    /// A logit for each action, and the value.
    pub heads: Layer,
}

/// A hidden layer, whose outputs are normalised or not before those above zero go on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hidden {
    pub layer: Layer,
    pub norm: Option<Norm>,
}

/// A gated recurrent unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Memory {
    pub from_input: Layer,
    pub from_state: Layer,
}

/// What a network needs while it is computed, so that nothing is allocated then.
#[derive(Clone, Debug)]
pub struct PolicyScratch {
    inputs: Inputs,
    sums: Sums,
    old_sums: Sums,
}

impl Network {
    /// What it needs while it is computed.
    pub fn scratch(&self) -> PolicyScratch {
        let layers = || self.trunk.iter().map(|hidden| &hidden.layer).chain([&self.heads]);
        let memory = self.memory.iter().flat_map(|memory| [&memory.from_input, &memory.from_state]);
        let outputs = layers().chain(memory).map(Layer::outputs).max().unwrap_or_default();
        PolicyScratch {
            inputs: Inputs::with_capacity(self.inputs().max(outputs)),
            sums: Sums::new(outputs),
            old_sums: Sums::new(if self.memory.is_some() { outputs } else { 0 }),
        }
    }

    /// Inputs of the first layer.
    pub fn inputs(&self) -> usize {
        self.bits + self.card_features.as_ref().map_or(0, CardFeatures::len)
    }

    /// Numbers that it remembers.
    pub fn memory_width(&self) -> usize {
        self.memory.as_ref().map_or(0, |memory| memory.from_state.outputs() / 3)
    }

    /// The logits of an observation, then the value; the state becomes the next one.
    pub fn apply<'a>(
        &self,
        words: &[u64],
        state: &mut [f32],
        scratch: &'a mut PolicyScratch,
    ) -> &'a [f32] {
        let PolicyScratch { inputs, sums, .. } = scratch;
        inputs.clear();
        push_bits(words, inputs);
        if let Some(features) = &self.card_features {
            features.push(words, inputs);
        }
        for Hidden { layer, norm } in &self.trunk {
            let outputs = layer.apply(inputs, sums);
            if let Some(norm) = norm {
                norm.apply(outputs);
            }
            // Not those that are negative, for whose sake there are hidden layers.
            inputs.clear();
            push_if(outputs, inputs, |output| output > 0.0);
        }
        if let Some(memory) = &self.memory {
            memory.apply(state, scratch);
        }
        self.heads.apply(&scratch.inputs, &mut scratch.sums)
    }
}

impl Memory {
    /// The next state, which becomes the inputs too.
    fn apply(&self, state: &mut [f32], scratch: &mut PolicyScratch) {
        let PolicyScratch { inputs, sums, old_sums, .. } = scratch;
        let given = self.from_input.apply(inputs, sums);
        inputs.clear();
        push_if(state, inputs, |number| number != 0.0);
        let old = self.from_state.apply(inputs, old_sums);
        let width = state.len();
        for (index, state) in state.iter_mut().enumerate() {
            let (keep, reset) = (index + width, index + 2 * width);
            let candidate =
                libm::tanhf(given[index] + sigmoid(given[reset] + old[reset]) * old[index]);
            *state = candidate + sigmoid(given[keep] + old[keep]) * (*state - candidate);
        }
        inputs.clear();
        push_if(state, inputs, |number| number != 0.0);
    }
}

fn sigmoid(number: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-number))
}

/// Appends the ones of an observation.
fn push_bits(words: &[u64], inputs: &mut Inputs) {
    for (index, &word) in words.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            inputs.push((64 * index as u32 + rest.trailing_zeros(), 1.0));
            rest &= rest - 1;
        }
    }
}

/// Appends the numbers of this kind.
fn push_if(numbers: &[f32], inputs: &mut Inputs, is_kept: impl Fn(f32) -> bool) {
    let kept = numbers.iter().enumerate().filter(|&(_, &number)| is_kept(number));
    inputs.extend(kept.map(|(index, &number)| (index as u32, number)));
}
