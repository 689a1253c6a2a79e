//! Buffers for all outputs of a batch.

use starmine::batch::{Batch, Dtype, ExtraOutput, ObservationBuffer, Outputs};
use starmine::buffers::{Element, WriteOnly, f16};
use starmine::encode::CARD_FEATURES;

/// The elements of observations.
pub trait Rows: Element {
    /// An element that no packed or expanded observation has.
    const UNWRITTEN: Self;

    fn buffer(rows: &mut [Self], dtype: Dtype) -> ObservationBuffer<'_>;
}

impl Rows for f32 {
    const UNWRITTEN: f32 = -99.0;

    fn buffer(rows: &mut [f32], _: Dtype) -> ObservationBuffer<'_> {
        rows.into()
    }
}

impl Rows for f16 {
    const UNWRITTEN: f16 = f16::NEG_INFINITY;

    fn buffer(rows: &mut [f16], _: Dtype) -> ObservationBuffer<'_> {
        rows.into()
    }
}

impl Rows for u8 {
    const UNWRITTEN: u8 = 0xa5;

    fn buffer(rows: &mut [u8], dtype: Dtype) -> ObservationBuffer<'_> {
        let rows = WriteOnly::new(rows);
        if dtype == Dtype::Bits {
            ObservationBuffer::Bits(rows)
        } else {
            ObservationBuffer::Uint8(rows)
        }
    }
}

/// A buffer for each output; those of extra outputs that a batch does not have are empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffers<T> {
    dtype: Dtype,
    pub obs: Vec<T>,
    pub action_mask: Vec<bool>,
    pub reward: Vec<f32>,
    pub terminated: Vec<bool>,
    pub truncated: Vec<bool>,
    pub current_player: Vec<i32>,
    pub score: Vec<i32>,
    pub final_score: Vec<i32>,
    pub final_length: Vec<i32>,
    pub final_ending: Vec<i8>,
    pub illegal_action: Vec<bool>,
    pub card_features: Vec<f32>,
    pub public_marginals: Vec<f32>,
    pub own_hand: Vec<i8>,
}

impl<T: Rows> Buffers<T> {
    /// Buffers of a batch, filled with values that no output has.
    pub fn new(batch: &Batch) -> Buffers<T> {
        let (games, variant) = (batch.num_envs(), batch.variant().clone());
        let rows = games * batch.num_observers();
        let slots = usize::from(variant.hand_size());
        let cards = rows * usize::from(variant.players()) * slots;
        let extra = |output: ExtraOutput, length: usize| {
            if batch.options().extra_outputs.contains(&output) { length } else { 0 }
        };
        Buffers {
            dtype: batch.options().dtype,
            obs: vec![T::UNWRITTEN; rows * batch.row_length()],
            action_mask: vec![true; games * variant.num_actions()],
            reward: vec![-99.0; games],
            terminated: vec![true; games],
            truncated: vec![true; games],
            current_player: vec![-99; games],
            score: vec![-99; games],
            final_score: vec![-99; games],
            final_length: vec![-99; games],
            final_ending: vec![-99; games],
            illegal_action: vec![true; games],
            card_features: vec![-99.0; extra(ExtraOutput::CardFeatures, cards * CARD_FEATURES)],
            public_marginals: vec![
                -99.0;
                extra(ExtraOutput::Marginals, cards * variant.num_card_kinds())
            ],
            own_hand: vec![-99; extra(ExtraOutput::OwnHand, rows * slots)],
        }
    }

    /// Lends the buffers for one call.
    pub fn outputs(&mut self) -> Outputs<'_> {
        fn lend<E: Copy>(elements: &mut [E]) -> Option<WriteOnly<'_, E>> {
            (!elements.is_empty()).then(|| elements.into())
        }
        Outputs {
            obs: Some(T::buffer(&mut self.obs, self.dtype)),
            action_mask: lend(&mut self.action_mask),
            reward: lend(&mut self.reward),
            terminated: lend(&mut self.terminated),
            truncated: lend(&mut self.truncated),
            current_player: lend(&mut self.current_player),
            score: lend(&mut self.score),
            final_score: lend(&mut self.final_score),
            final_length: lend(&mut self.final_length),
            final_ending: lend(&mut self.final_ending),
            illegal_action: lend(&mut self.illegal_action),
            card_features: lend(&mut self.card_features),
            public_marginals: lend(&mut self.public_marginals),
            own_hand: lend(&mut self.own_hand),
        }
    }
}
