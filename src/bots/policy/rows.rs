//! Many observations that pass a network together, so that its weights are read once for all of them.
//!
//! The logits are equal to the bit to those of [`Network::apply`]: each output is summed in the same order.

use super::any_network::Network;
use super::color_network::ColorNetwork;
use super::linear::{Lanes, ROWS};
use super::model::Policy;
use super::network::{PlainNetwork, push_bits};
use crate::encode::encode_into;
use crate::rules::{Move, View};

/// Scratch memory for [`Policy::logits_of_rows`].
#[derive(Clone, Debug, Default)]
pub struct PolicyRows {
    /// The packed observations, row by row.
    observations: Vec<u64>,
    /// One observation's features, row by row.
    features: Vec<Vec<f32>>,
    inputs: Vec<u32>,
    numbers: Vec<Lanes>,
    sums: Vec<Lanes>,
    shared: Vec<Lanes>,
    towers: Vec<Vec<Lanes>>,
    pooled: Vec<Lanes>,
    group_logits: Vec<Vec<Lanes>>,
    outputs: Vec<Lanes>,
}

impl Policy {
    /// The most observations of one call of [`Policy::logits_of_rows`].
    pub const ROWS: usize = ROWS;

    /// Whether [`Policy::logits_of_rows`] can be called: the network has no hidden state and no normalisation.
    #[must_use]
    pub fn takes_rows(&self) -> bool {
        match &self.network {
            Network::Plain(network) => {
                network.gru.is_none() && network.trunk.iter().all(|hidden| hidden.norm.is_none())
            }
            Network::Colors(network) => network.gru.is_none(),
        }
    }

    /// A forward pass of several observations: for each action, then for the value, the output of each observation. The
    /// same numbers as those of [`Policy::logits`].
    ///
    /// # Panics
    /// If there are more than [`Policy::ROWS`] observations, if one has the wrong size, or if the network does not take
    /// rows.
    pub fn logits_of_rows<'a>(
        &self,
        observations: &[&[u64]],
        room: &'a mut PolicyRows,
    ) -> &'a [Lanes] {
        assert!(
            self.takes_rows() && observations.len() <= ROWS,
            "rows of a network that takes them"
        );
        let words = self.num_bits().div_ceil(64);
        assert!(observations.iter().all(|row| row.len() == words), "words of an observation");
        match &self.network {
            Network::Plain(network) => network.apply_rows(observations, room),
            Network::Colors(network) => network.apply_rows(observations, room),
        }
        &room.outputs
    }
}

impl Policy {
    /// The moves of the greedy bot of this policy for many views, in their order.
    ///
    /// # Panics
    /// If the network does not take rows, or if no action is legal in one of the views.
    pub fn best_moves<'v>(
        &self,
        views: impl Iterator<Item = View<'v>>,
        room: &mut PolicyRows,
        moves: &mut Vec<Move>,
    ) {
        let words = self.num_bits().div_ceil(64);
        let mut observations = std::mem::take(&mut room.observations);
        observations.resize(ROWS * words, 0);
        moves.clear();
        let mut views = views.fuse().peekable();
        while views.peek().is_some() {
            let mut chunk = [None; ROWS];
            for (place, view) in chunk.iter_mut().zip(&mut views) {
                *place = Some(view);
            }
            let chunk: Vec<View<'v>> = chunk.into_iter().flatten().collect();
            for (words, view) in observations.chunks_exact_mut(words).zip(&chunk) {
                encode_into(self.encoder, *view, words);
            }
            let rows: Vec<&[u64]> = observations.chunks_exact(words).take(chunk.len()).collect();
            let logits = self.logits_of_rows(&rows, room);
            for (lane, view) in chunk.iter().enumerate() {
                let mut actions = view.legal_actions().iter();
                let first = actions.next().expect("the player to act has a legal action");
                let better = |best: usize, action: usize| {
                    if logits[action][lane] > logits[best][lane] { action } else { best }
                };
                let best = actions.fold(first, better) as i64;
                moves.push(
                    view.variant().action_to_move(best).expect("legal actions are the variant's"),
                );
            }
        }
        room.observations = observations;
    }
}

impl PlainNetwork {
    fn apply_rows(&self, observations: &[&[u64]], room: &mut PolicyRows) {
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

impl ColorNetwork {
    fn apply_rows(&self, observations: &[&[u64]], room: &mut PolicyRows) {
        let PolicyRows {
            features,
            inputs,
            numbers,
            sums,
            shared,
            towers,
            pooled,
            group_logits,
            outputs,
            ..
        } = room;
        let (colors, row) = (self.features.colors(), self.features.row().len());
        let split = colors * row;
        features.resize_with(ROWS, Vec::new);
        for (features, words) in features.iter_mut().zip(observations) {
            features.resize(self.features.len(), 0.0);
            self.features.write(words, features);
        }
        let gather = |places: std::ops::Range<usize>, numbers: &mut Vec<Lanes>| {
            numbers.clear();
            numbers.resize(places.len(), [0.0; ROWS]);
            for (lane, features) in features[..observations.len()].iter().enumerate() {
                let found = numbers.iter_mut().zip(&features[places.clone()]);
                found.for_each(|(lanes, &feature)| lanes[lane] = feature);
            }
        };
        // The part of the first layer that all colours share.
        gather(split..self.features.len(), numbers);
        self.color_rest.apply_rows(numbers, inputs, shared);
        let mut rest = Vec::new();
        self.rest.apply_rows(numbers, inputs, &mut rest);
        relu(&mut rest);
        towers.resize_with(colors, Vec::new);
        for (color, tower) in towers.iter_mut().enumerate() {
            gather(color * row..(color + 1) * row, numbers);
            self.color[0].apply_rows(numbers, inputs, tower);
            add_relu(shared, tower);
        }
        pool(towers, pooled);
        self.color_pooled.apply_rows(pooled, inputs, shared);
        group_logits.resize_with(colors, Vec::new);
        for (tower, logits) in towers.iter_mut().zip(group_logits.iter_mut()) {
            self.color[1].apply_rows(tower, inputs, sums);
            std::mem::swap(tower, sums);
            add_relu(shared, tower);
            self.color_heads.apply_rows(tower, inputs, logits);
        }
        pool(towers, pooled);
        // The pooled towers come before the other row.
        pooled.extend_from_slice(&rest);
        self.trunk.apply_rows(pooled, inputs, sums);
        relu(sums);
        self.heads.apply_rows(sums, inputs, numbers);
        outputs.clear();
        for &(head, color) in &self.actions.heads {
            let mut logits = numbers[head];
            let of_color =
                color.map_or([0.0; ROWS], |color| group_logits[color][head - self.actions.plain]);
            logits.iter_mut().zip(of_color).for_each(|(logit, of_color)| *logit += of_color);
            outputs.push(logits);
        }
        outputs.push(numbers[self.actions.rows() - 1]);
    }
}

fn relu(numbers: &mut [Lanes]) {
    numbers.as_flattened_mut().iter_mut().for_each(|number| *number = number.max(0.0));
}

/// The positive parts of the sums of both.
fn add_relu(shared: &[Lanes], tower: &mut [Lanes]) {
    let shared = shared.as_flattened();
    for (own, shared) in tower.as_flattened_mut().iter_mut().zip(shared) {
        *own = (*own + shared).max(0.0);
    }
}

/// The mean and the maximum over the colours.
fn pool(towers: &[Vec<Lanes>], pooled: &mut Vec<Lanes>) {
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
