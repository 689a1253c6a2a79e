//! Networks by colour: all colours pass the same layers, and are pooled.

use super::color_features::ColorFeatures;
use super::linear::Linear;
use super::pooling::{Pooling, PoolingSize};
use super::scratch::{PolicyScratch, relu};
use crate::buffers::{InstructionSet, WriteOnly};
use crate::rules::{Hint, Move, Variant};

/// A network that treats all colours alike: a tower that every colour passes with the same weights,
/// pooled over the colours, and a trunk. A permutation of the colours permutes the logits of the
/// actions that name a colour, and nothing else.
///
/// With `x_c` the row of a colour and `g` the other row of [`ColorFeatures`]:
/// - `h_c = relu(color.0 x_c + color_rest g)`
/// - `k_c = relu(color.1 h_c + color_pooled [mean h, max h])`
/// - `z = relu(trunk [mean k, max k, relu(rest g)])`
/// - the logits are `heads z`, for an action that names the colour `c` plus `color_heads k_c`.
#[derive(Clone, Debug, PartialEq)]
pub struct ColorNetwork {
    pub features: ColorFeatures,
    pub actions: ColorActions,
    pub color: [Linear; 2],
    pub color_rest: Linear,
    pub color_pooled: Linear,
    pub rest: Linear,
    pub trunk: Linear,
    /// The logits of the actions without a colour, those of the groups, then the value.
    pub heads: Linear,
    /// The logits of the groups for one colour.
    pub color_heads: Linear,
}

/// Which actions name a colour. Those of one group differ in nothing else: the hints to one seat,
/// and with timed display the announced plays of one slot.
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
            Move::Hint { offset, hint: Hint::Color(suit) } => {
                Some((0, offset.index(), suit.index()))
            }
            Move::AnnouncedPlay { slot, suit } => Some((1, slot.index(), suit.index())),
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
    /// A forward pass of one or more rows: for each the logits, then the value.
    pub fn apply<'a>(
        &self,
        simd: InstructionSet,
        words: &[u64],
        scratch: &'a mut PolicyScratch,
    ) -> &'a [f32] {
        self.write_features(words, &mut scratch.features);
        self.pass_colors(simd, scratch);
        self.pass_trunk(simd, scratch);
        self.sum_logits(scratch);
        &scratch.outputs
    }

    /// Writes the features of each row: the rows of the colours, and behind them the other one.
    fn write_features(&self, words: &[u64], features: &mut Vec<f32>) {
        let words = words.chunks_exact(self.features.bits().div_ceil(64));
        let length = self.features.len();
        features.resize(words.len() * length, 0.0);
        for (words, features) in words.zip(features.chunks_exact_mut(length)) {
            self.features.write(words, features);
        }
    }

    /// From the features to the pooled towers, the logits of the groups, and `relu(rest g)`.
    fn pass_colors(&self, simd: InstructionSet, scratch: &mut PolicyScratch) {
        let PolicyScratch {
            inputs,
            features,
            sums,
            shared,
            rest,
            towers,
            pooled,
            group_logits,
            ..
        } = scratch;
        let (colors, row) = (self.features.colors(), self.features.row().len());
        let (width, split) = (self.color[0].outputs(), colors * row);
        let features = features.chunks_exact(self.features.len());
        let rows = features.len();
        // The part of the first layer that all colours share.
        inputs.clear();
        features.clone().for_each(|features| inputs.push(simd, [&features[split..]]));
        self.color_rest.apply(simd, inputs, shared);
        self.rest.apply(simd, inputs, rest);
        relu(rest);
        inputs.clear();
        for features in features {
            features[..split].chunks_exact(row).for_each(|row| inputs.push(simd, [row]));
        }
        self.color[0].apply(simd, inputs, sums);
        towers.resize(rows * colors * width, 0.0);
        pooled.resize(rows * 2 * width, 0.0);
        let size = PoolingSize { colors, width };
        let pool = |sums: &[f32], shared: &[f32], towers: &mut [f32], pooled: &mut [f32]| {
            let (tower, pooled) = (WriteOnly::new(towers), WriteOnly::new(pooled));
            let layer = Pooling { rows: sums, shared, tower, pooled };
            layer.run(simd, size, 1).expect("the lengths fit together");
        };
        pool(sums, shared, towers, pooled);
        inputs.fill(simd, pooled, 2 * width);
        self.color_pooled.apply(simd, inputs, shared);
        inputs.fill(simd, towers, width);
        self.color[1].apply(simd, inputs, sums);
        pool(sums, shared, towers, pooled);
        inputs.fill(simd, towers, width);
        self.color_heads.apply(simd, inputs, group_logits);
    }

    /// From the pooled towers to the sums of the heads.
    fn pass_trunk(&self, simd: InstructionSet, scratch: &mut PolicyScratch) {
        let PolicyScratch { inputs, sums, rest, pooled, .. } = scratch;
        inputs.clear();
        let pooled = pooled.chunks_exact(2 * self.color[0].outputs());
        for (pooled, rest) in pooled.zip(rest.chunks_exact(self.rest.outputs())) {
            inputs.push(simd, [pooled, rest]);
        }
        self.trunk.apply(simd, inputs, sums);
        relu(sums);
        inputs.fill(simd, sums, self.trunk.outputs());
        self.heads.apply(simd, inputs, sums);
    }

    /// Adds the logits of the groups to those of the heads, for each row.
    fn sum_logits(&self, scratch: &mut PolicyScratch) {
        let PolicyScratch { sums, group_logits, outputs, .. } = scratch;
        outputs.clear();
        let (colors, groups) = (self.features.colors(), self.actions.groups);
        for (row, heads) in sums.chunks_exact(self.actions.rows()).enumerate() {
            let of_colors = &group_logits[row * colors * groups..];
            outputs.extend(self.actions.heads.iter().map(|&(head, color)| {
                let of_color = |color| of_colors[color * groups + head - self.actions.plain];
                heads[head] + color.map_or(0.0, of_color)
            }));
            outputs.extend(heads.last());
        }
    }
}
