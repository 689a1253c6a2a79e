//! Plain networks: hidden layers over all bits of an observation.

use super::card_features::CardFeatures;
use super::layer_norm::LayerNorm;
use super::linear::Linear;
use super::scratch::{PolicyScratch, relu};

/// A feed-forward trunk of hidden layers with ReLU, an optional recurrent unit, and the heads.
#[derive(Clone, Debug, PartialEq)]
pub struct PlainNetwork {
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
pub struct HiddenLayer {
    pub layer: Linear,
    pub norm: Option<LayerNorm>,
}

/// A gated recurrent unit, as `torch.nn.GRUCell`.
#[derive(Clone, Debug, PartialEq)]
pub struct Gru {
    pub from_input: Linear,
    pub from_state: Linear,
}

impl PlainNetwork {
    /// Number of inputs of the first layer.
    pub fn inputs(&self) -> usize {
        self.bits + self.card_features.as_ref().map_or(0, CardFeatures::len)
    }

    /// A forward pass of one or more rows: for each the logits, then the value. Updates the hidden
    /// states.
    pub fn apply<'a>(
        &self,
        words: &[u64],
        states: &mut [f32],
        scratch: &'a mut PolicyScratch,
    ) -> &'a [f32] {
        let PolicyScratch { simd, inputs, card_features, sums, .. } = scratch;
        inputs.clear();
        for words in words.chunks_exact(self.bits.div_ceil(64)) {
            card_features.clear();
            if let Some(features) = &self.card_features {
                features.push(words, card_features);
            }
            inputs.push_bits(words, card_features);
        }
        for HiddenLayer { layer, norm } in &self.trunk {
            layer.apply(*simd, inputs, sums);
            if let Some(norm) = norm {
                sums.chunks_exact_mut(layer.outputs()).for_each(|row| norm.apply(row));
            }
            relu(sums);
            inputs.fill(*simd, sums, layer.outputs());
        }
        if let Some(gru) = &self.gru {
            gru.apply(states, scratch);
        }
        self.heads.apply(scratch.simd, &scratch.inputs, &mut scratch.outputs);
        &scratch.outputs
    }
}

impl Gru {
    /// The width of the hidden state.
    pub const fn width(&self) -> usize {
        self.from_state.outputs() / 3
    }

    /// Computes the next hidden states, which are also the inputs of the heads.
    pub fn apply(&self, states: &mut [f32], scratch: &mut PolicyScratch) {
        let PolicyScratch { simd, inputs, sums, state_sums, .. } = scratch;
        let width = self.width();
        self.from_input.apply(*simd, inputs, sums);
        inputs.fill(*simd, states, width);
        self.from_state.apply(*simd, inputs, state_sums);
        let rows = sums.chunks_exact(3 * width).zip(state_sums.chunks_exact(3 * width));
        for (state, (given, old)) in states.chunks_exact_mut(width).zip(rows) {
            for (index, state) in state.iter_mut().enumerate() {
                let (keep, reset) = (index + width, index + 2 * width);
                let candidate =
                    libm::tanhf(given[index] + sigmoid(given[reset] + old[reset]) * old[index]);
                *state = candidate + sigmoid(given[keep] + old[keep]) * (*state - candidate);
            }
        }
        inputs.fill(*simd, states, width);
    }
}

fn sigmoid(number: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-number))
}

/// The number in the name of a hidden layer's linear part. That of its normalisation is the next
/// one.
pub const fn trunk_place(index: usize, is_normalised: bool) -> usize {
    index * if is_normalised { 3 } else { 2 }
}
