//! The kinds of networks.

use super::color_network::ColorNetwork;
use super::network::{Gru, PlainNetwork};
use super::scratch::PolicyScratch;

/// The network of a policy.
#[derive(Clone, Debug, PartialEq)]
pub enum Network {
    /// Hidden layers over all bits of an observation.
    Plain(Box<PlainNetwork>),
    /// Weights that all colours share.
    Colors(Box<ColorNetwork>),
}

impl Network {
    /// Number of bits of an observation.
    pub const fn bits(&self) -> usize {
        match self {
            Network::Plain(network) => network.bits,
            Network::Colors(network) => network.features.bits(),
        }
    }

    /// The width of the hidden state; 0 without recurrence.
    pub fn state_width(&self) -> usize {
        let gru = match self {
            Network::Plain(network) => &network.gru,
            Network::Colors(network) => &network.gru,
        };
        gru.as_ref().map_or(0, Gru::width)
    }

    /// A forward pass of one or more rows: for each the logits, then the value. Updates the hidden
    /// states.
    pub fn apply<'a>(
        &self,
        words: &[u64],
        states: &mut [f32],
        scratch: &'a mut PolicyScratch,
    ) -> &'a [f32] {
        match self {
            Network::Plain(network) => network.apply(words, states, scratch),
            Network::Colors(network) => network.apply(words, states, scratch),
        }
    }
}
