use super::linear::{Accumulator, Inputs, Lanes, Linear, ROWS};
use super::network::{Gru, push_if};
use super::rows::{self, PolicyRows};
use super::scratch::{ColorScratch, PolicyScratch};
use crate::nn::ColorFeatures;
use crate::rules::{Hint, Move, Variant};

/// A network that treats all colours alike: a tower that every colour passes with the same weights,
/// pooled over the colours, and a trunk. A permutation of the colours permutes the logits of the actions
/// that name a colour, and nothing else.
///
/// With `x_c` the row of a colour and `g` the other row of [`ColorFeatures`]:
/// - `h_c = relu(color.0 x_c + color_rest g)`
/// - `k_c = relu(color.1 h_c + color_pooled [mean h, max h])`
/// - `z = relu(trunk [mean k, max k, relu(rest g)])`, or the recurrent unit's next state after that
/// - the logits are `heads z`, for an action that names the colour `c` plus `color_heads k_c`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ColorNetwork {
    pub features: ColorFeatures,
    pub actions: ColorActions,
    pub color: [Linear; 2],
    pub color_rest: Linear,
    pub color_pooled: Linear,
    pub rest: Linear,
    pub trunk: Linear,
    pub gru: Option<Gru>,
    /// The logits of the actions without a colour, those of the groups, then the value.
    pub heads: Linear,
    /// The logits of the groups for one colour.
    pub color_heads: Linear,
}

/// Which actions name a colour. Those of one group differ in nothing else: the hints to one seat, and
/// with timed display the announced plays of one slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColorActions {
    /// For each action its head, and the colour that it names.
    pub heads: Vec<(usize, Option<usize>)>,
    /// The number of actions without a colour.
    pub plain: usize,
    /// The number of groups.
    pub groups: usize,
}

impl ColorActions {
    /// The actions of a variant. Groups are in the order of their first actions.
    pub fn of(variant: &Variant) -> ColorActions {
        let moves = &variant.tables().moves;
        let group_of = |played: &Move| match *played {
            Move::Hint { offset, hint: Hint::Color(suit) } => Some((0, offset, suit.index())),
            Move::AnnouncedPlay { slot, suit } => Some((1, slot, suit.index())),
            _ => None,
        };
        let plain = moves.iter().filter(|played| group_of(played).is_none()).count();
        let (mut known, mut next, mut heads) = (Vec::new(), 0, Vec::new());
        for played in moves {
            let Some((kind, place, color)) = group_of(played) else {
                heads.push((next, None));
                next += 1;
                continue;
            };
            let found = known.iter().position(|&other| other == (kind, place));
            let group = found.unwrap_or_else(|| {
                known.push((kind, place));
                known.len() - 1
            });
            heads.push((plain + group, Some(color)));
        }
        ColorActions { heads, plain, groups: known.len() }
    }

    /// The number of rows of the heads: actions without a colour, groups, and the value.
    pub const fn rows(&self) -> usize {
        self.plain + self.groups + 1
    }
}

impl ColorNetwork {
    /// Scratch memory for this network.
    pub fn scratch(&self) -> PolicyScratch {
        let layers = [&self.color[0], &self.color[1], &self.rest, &self.trunk, &self.heads];
        let gru = self.gru.iter().flat_map(|gru| [&gru.from_input, &gru.from_state]);
        let widest = layers.into_iter().chain(gru).map(Linear::outputs).max().unwrap_or_default();
        let (width, colors) = (self.color[0].outputs(), self.features.colors());
        let scratch = ColorScratch {
            features: vec![0.0; self.features.len()],
            shared: Accumulator::new(width),
            towers: vec![0.0; colors * width],
            pooled: vec![0.0; 2 * width],
            trunk: Vec::with_capacity(3 * width),
            group_logits: vec![0.0; colors * self.actions.groups],
            outputs: vec![0.0; self.actions.heads.len() + 1],
        };
        let inputs = self.features.len().max(widest);
        PolicyScratch::new(inputs, widest, self.gru.is_some(), Some(scratch))
    }

    /// A forward pass: the logits of an observation, then the value. Updates the hidden state.
    pub fn apply<'a>(
        &self,
        words: &[u64],
        state: &mut [f32],
        scratch: &'a mut PolicyScratch,
    ) -> &'a [f32] {
        let mut colors = scratch.colors.take().expect("the scratch memory of this network");
        self.features.write(words, &mut colors.features);
        let (row, width) = (self.features.row().len(), self.color[0].outputs());
        let split = self.features.colors() * row;
        let PolicyScratch { inputs, sums, .. } = &mut *scratch;
        // The part of the first layer that all colours share.
        read(&colors.features[split..], inputs);
        self.color_rest.apply(inputs, &mut colors.shared);
        colors.trunk.clear();
        let rest = self.rest.apply(inputs, sums);
        let positive = rest.iter().enumerate().filter(|&(_, &output)| output > 0.0);
        let place = |index| (2 * width + index) as u32;
        colors.trunk.extend(positive.map(|(index, &output)| (place(index), output)));
        let rows = colors.features[..split].chunks_exact(row);
        for (features, tower) in rows.zip(colors.towers.chunks_exact_mut(width)) {
            read(features, inputs);
            add_relu(self.color[0].apply(inputs, sums), &colors.shared, tower);
        }
        pool(&colors.towers, &mut colors.pooled);
        read(&colors.pooled, inputs);
        self.color_pooled.apply(inputs, &mut colors.shared);
        let groups = self.actions.groups;
        let towers = colors.towers.chunks_exact_mut(width);
        for (tower, logits) in towers.zip(colors.group_logits.chunks_exact_mut(groups)) {
            read(tower, inputs);
            add_relu(self.color[1].apply(inputs, sums), &colors.shared, tower);
            read(tower, inputs);
            logits.copy_from_slice(self.color_heads.apply(inputs, sums));
        }
        pool(&colors.towers, &mut colors.pooled);
        // The pooled towers come before the other row.
        read(&colors.pooled, inputs);
        inputs.extend_from_slice(&colors.trunk);
        let trunk = self.trunk.apply(inputs, sums);
        inputs.clear();
        push_if(trunk, inputs, |output| output > 0.0);
        if let Some(gru) = &self.gru {
            gru.apply(state, scratch);
        }
        let heads = self.heads.apply(&scratch.inputs, &mut scratch.sums);
        let outputs = &mut colors.outputs;
        for (logit, &(head, color)) in outputs.iter_mut().zip(&self.actions.heads) {
            let of_color = color.map_or(0.0, |color| {
                colors.group_logits[color * groups + head - self.actions.plain]
            });
            *logit = heads[head] + of_color;
        }
        outputs[self.actions.heads.len()] = heads[self.actions.rows() - 1];
        &scratch.colors.insert(colors).outputs
    }

    /// The same for several observations at once, to the bit: each output is summed in the same order.
    pub fn apply_rows(&self, observations: &[&[u64]], room: &mut PolicyRows) {
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
        rows::relu(&mut rest);
        towers.resize_with(colors, Vec::new);
        for (color, tower) in towers.iter_mut().enumerate() {
            gather(color * row..(color + 1) * row, numbers);
            self.color[0].apply_rows(numbers, inputs, tower);
            rows::add_relu(shared, tower);
        }
        rows::pool(towers, pooled);
        self.color_pooled.apply_rows(pooled, inputs, shared);
        group_logits.resize_with(colors, Vec::new);
        for (tower, logits) in towers.iter_mut().zip(group_logits.iter_mut()) {
            self.color[1].apply_rows(tower, inputs, sums);
            std::mem::swap(tower, sums);
            rows::add_relu(shared, tower);
            self.color_heads.apply_rows(tower, inputs, logits);
        }
        rows::pool(towers, pooled);
        // The pooled towers come before the other row.
        pooled.extend_from_slice(&rest);
        self.trunk.apply_rows(pooled, inputs, sums);
        rows::relu(sums);
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

/// Reads the numbers that are not zero.
fn read(numbers: &[f32], inputs: &mut Inputs) {
    inputs.clear();
    push_if(numbers, inputs, |number| number != 0.0);
}

/// The positive parts of the sums of both.
fn add_relu(own: &[f32], shared: &Accumulator, out: &mut [f32]) {
    for ((out, own), shared) in out.iter_mut().zip(own).zip(shared.sums()) {
        *out = (own + shared).max(0.0);
    }
}

/// The mean and the maximum over the colours.
fn pool(towers: &[f32], pooled: &mut [f32]) {
    let (mean, most) = pooled.split_at_mut(pooled.len() / 2);
    mean.fill(0.0);
    most.fill(0.0);
    let colors = towers.len() / mean.len();
    for tower in towers.chunks_exact(mean.len()) {
        for ((mean, most), &number) in mean.iter_mut().zip(&mut *most).zip(tower) {
            *mean += number;
            *most = most.max(number);
        }
    }
    mean.iter_mut().for_each(|mean| *mean /= colors as f32);
}
