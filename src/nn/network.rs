use super::card_features::CardFeatures;
use super::layer_norm::LayerNorm;
use super::linear::{Inputs, Linear, ROWS};
use super::rows::{PolicyRows, relu};
use super::scratch::PolicyScratch;

/// A feed-forward trunk of hidden layers with ReLU, an optional recurrent unit, and the heads.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlainNetwork {
    /// Number of bits of an observation.
    pub bits: usize,
    pub card_features: Option<CardFeatures>,
    pub trunk: Vec<HiddenLayer>,
    pub gru: Option<Gru>,
    /// The logits of all actions, then the value.
    pub heads: Linear,
}

/// A hidden layer: linear, optionally normalised, then ReLU.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HiddenLayer {
    pub layer: Linear,
    pub norm: Option<LayerNorm>,
}

/// A gated recurrent unit, as `torch.nn.GRUCell`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Gru {
    pub from_input: Linear,
    pub from_state: Linear,
}

impl PlainNetwork {
    /// Scratch memory for this network.
    pub fn scratch(&self) -> PolicyScratch {
        let layers = || self.trunk.iter().map(|hidden| &hidden.layer).chain([&self.heads]);
        let gru = self.gru.iter().flat_map(|gru| [&gru.from_input, &gru.from_state]);
        let outputs = layers().chain(gru).map(Linear::outputs).max().unwrap_or_default();
        PolicyScratch::new(self.inputs().max(outputs), outputs, self.gru.is_some(), None)
    }

    /// Number of inputs of the first layer.
    pub fn inputs(&self) -> usize {
        self.bits + self.card_features.as_ref().map_or(0, CardFeatures::len)
    }

    /// A forward pass: the logits of an observation, then the value. Updates the hidden state.
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
        for HiddenLayer { layer, norm } in &self.trunk {
            let outputs = layer.apply(inputs, sums);
            if let Some(norm) = norm {
                norm.apply(outputs);
            }
            // ReLU: only positive outputs become inputs of the next layer.
            inputs.clear();
            push_if(outputs, inputs, |output| output > 0.0);
        }
        if let Some(gru) = &self.gru {
            gru.apply(state, scratch);
        }
        self.heads.apply(&scratch.inputs, &mut scratch.sums)
    }

    /// The same for several observations at once, to the bit: each output is summed in the same order.
    pub fn apply_rows(&self, observations: &[&[u64]], room: &mut PolicyRows) {
        let PolicyRows { inputs, numbers, sums, outputs, .. } = room;
        numbers.clear();
        numbers.resize(self.inputs(), [0.0; ROWS]);
        let mut found = Vec::new();
        for (lane, words) in observations.iter().enumerate() {
            found.clear();
            push_bits(words, &mut found);
            if let Some(features) = &self.card_features {
                features.push(words, &mut found);
            }
            found.iter().for_each(|&(input, value)| numbers[input as usize][lane] = value);
        }
        for hidden in &self.trunk {
            hidden.layer.apply_rows(numbers, inputs, sums);
            relu(sums);
            std::mem::swap(numbers, sums);
        }
        self.heads.apply_rows(numbers, inputs, outputs);
    }
}

impl Gru {
    /// Computes the next hidden state, which is also the input of the heads.
    pub fn apply(&self, state: &mut [f32], scratch: &mut PolicyScratch) {
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

/// Appends the set bits of an observation.
pub(super) fn push_bits(words: &[u64], inputs: &mut Inputs) {
    for (index, &word) in words.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            inputs.push((64 * index as u32 + rest.trailing_zeros(), 1.0));
            rest &= rest - 1;
        }
    }
}

/// Appends the numbers that satisfy the predicate.
pub(super) fn push_if(numbers: &[f32], inputs: &mut Inputs, is_kept: impl Fn(f32) -> bool) {
    let kept = numbers.iter().enumerate().filter(|&(_, &number)| is_kept(number));
    inputs.extend(kept.map(|(index, &number)| (index as u32, number)));
}

/// The number in the name of a hidden layer's linear part. That of its normalisation is the next one.
pub(super) const fn trunk_place(index: usize, is_normalised: bool) -> usize {
    index * if is_normalised { 3 } else { 2 }
}
