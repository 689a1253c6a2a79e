//! Encoded observations and action masks of single games, as vectors for new numpy arrays.

use crate::encode::{self, Encoder};
use crate::rules::{self, ActionSet};

/// Whether each action of the variant is in the set.
pub fn action_mask(variant: &rules::Variant, legal: ActionSet) -> Vec<bool> {
    (0..variant.num_actions()).map(|action| legal.contains(action)).collect()
}

/// The encoded observation of a view: a byte of 0 or 1 for each feature.
pub fn encode_view(encoder: &dyn Encoder, view: rules::View<'_>) -> Vec<u8> {
    let layout = encoder.layout(view.variant());
    let mut words = vec![0; layout.words()];
    encode::encode_into(encoder, view, &mut words);
    (0..layout.len()).map(|bit| (words[bit / 64] >> (bit % 64) & 1) as u8).collect()
}
