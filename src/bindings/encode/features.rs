//! Encoded observations and action masks of single games, as vectors for new numpy arrays.

use crate::encode::Encoder;
use crate::rules::{self, ActionSet};

/// Whether each action of the variant is in the set.
pub fn action_mask(variant: &rules::Variant, legal: ActionSet) -> Vec<bool> {
    variant.action_ids().map(|action| legal.contains(action)).collect()
}

/// The encoded observation of a seat: a byte of 0 or 1 for each feature.
pub fn encode_view(encoder: Encoder, view: rules::SeerView<'_>) -> Vec<u8> {
    let layout = encoder.layout(view.seat_view().variant());
    let mut words = vec![0; layout.words()];
    encoder.encode_into(&view, &mut words);
    (0..layout.len()).map(|bit| (words[bit / 64] >> (bit % 64) & 1) as u8).collect()
}
