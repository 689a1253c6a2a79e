//! Linear layers over sparse inputs: a sum of weight rows, one for each non-zero input.
//!
//! Each output is summed in the order of the inputs, without fused multiply-add. Wider vectors only
//! compute more outputs at once, so the outputs are equal to the bit on every processor and for
//! every number of rows.

use super::sparse_rows::SparseRows;
use crate::buffers::{InstructionSet, Task};

/// Outputs in a vector. Rows are padded with zeros.
const WIDTH: usize = 16;

/// The numbers of a vector.
type Numbers = [f32; WIDTH];

/// A vector of weights: a cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
struct Vector(Numbers);

/// The most vectors in a tile: as many sums as registers can hold.
const LONGEST_TILE: usize = 6;

/// The segments of inputs times the vectors of a tile that all rows pass before the next inputs
/// follow. Their weights are 36 KB, which the first-level cache keeps.
const BLOCK: usize = LONGEST_TILE;

/// Bounds of an output.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnitBounds {
    /// No absolute value of a partial sum is larger.
    pub magnitude: f64,
    /// No output is larger.
    pub output: f64,
}

/// A linear layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    outputs: usize,
    inputs: usize,
    tiles: Vec<Tile>,
}

/// Neighbouring outputs of a layer, whose sums are in registers together.
#[derive(Clone, Debug, PartialEq)]
struct Tile {
    bias: Vec<Vector>,
    /// For each input as many vectors as in the bias.
    weights: Vec<Vector>,
}

impl Linear {
    /// A layer from output-major weights of shape (outputs, inputs) and a bias of shape (outputs).
    pub fn new(weights: &[f32], bias: &[f32]) -> Linear {
        let (outputs, inputs) = (bias.len(), weights.len() / bias.len());
        let vectors = outputs.div_ceil(WIDTH);
        let tiles = vectors.div_ceil(LONGEST_TILE);
        let tile = |index: usize| {
            let first = index * vectors / tiles;
            let length = (index + 1) * vectors / tiles - first;
            let mut tile = Tile {
                bias: vec![Vector::default(); length],
                weights: vec![Vector::default(); inputs * length],
            };
            for output in WIDTH * first..outputs.min(WIDTH * (first + length)) {
                let (vector, lane) = (output / WIDTH - first, output % WIDTH);
                tile.bias[vector].0[lane] = bias[output];
                for (input, &weight) in weights[output * inputs..][..inputs].iter().enumerate() {
                    tile.weights[input * length + vector].0[lane] = weight;
                }
            }
            tile
        };
        Linear { outputs, inputs, tiles: (0..tiles).map(tile).collect() }
    }

    /// Number of outputs, without padding.
    pub const fn outputs(&self) -> usize {
        self.outputs
    }

    /// The bounds of each output for inputs from 0 to these. The magnitudes also hold for inputs
    /// from the negatives of these.
    pub fn bounds(&self, inputs: &[f64]) -> Vec<UnitBounds> {
        let mut bounds = Vec::with_capacity(self.outputs);
        for tile in &self.tiles {
            for (vector, bias) in tile.bias.iter().enumerate() {
                for (lane, &bias) in bias.0.iter().enumerate() {
                    let bias = f64::from(bias);
                    let mut unit = UnitBounds { magnitude: bias.abs(), output: bias };
                    for (row, input) in tile.weights.chunks_exact(tile.bias.len()).zip(inputs) {
                        let product = f64::from(row[vector].0[lane]) * input;
                        unit.magnitude += product.abs();
                        unit.output += product.max(0.0);
                    }
                    bounds.push(unit);
                }
            }
        }
        bounds.truncate(self.outputs);
        bounds
    }

    /// Computes the outputs of each row, one row after another.
    ///
    /// # Panics
    /// If an index is not that of an input.
    pub fn apply(&self, simd: InstructionSet, rows: &SparseRows, outputs: &mut Vec<f32>) {
        // Every element is overwritten below.
        outputs.resize(rows.len() * self.outputs, 0.0);
        if outputs.is_empty() {
            return;
        }
        let mut first = 0;
        for tile in &self.tiles {
            let (stride, inputs, outputs) = (self.outputs, self.inputs, &mut outputs[..]);
            let job = Job { tile, rows, first, stride, inputs, outputs };
            match tile.bias.len() {
                1 => simd.run(TileJob::<1>(job)),
                2 => simd.run(TileJob::<2>(job)),
                3 => simd.run(TileJob::<3>(job)),
                4 => simd.run(TileJob::<4>(job)),
                5 => simd.run(TileJob::<5>(job)),
                _ => simd.run(TileJob::<LONGEST_TILE>(job)),
            }
            first += tile.bias.len() * WIDTH;
        }
    }
}

/// The outputs of a tile for all rows.
struct Job<'a> {
    tile: &'a Tile,
    rows: &'a SparseRows,
    /// The first output of the tile.
    first: usize,
    /// The outputs of the layer.
    stride: usize,
    /// The inputs of the layer.
    inputs: usize,
    outputs: &'a mut [f32],
}

/// A job with a tile of `N` vectors.
struct TileJob<'a, const N: usize>(Job<'a>);

impl<I, const N: usize> Task<I> for TileJob<'_, N> {
    #[inline(always)]
    fn run(self, _: I) {
        let TileJob(job) = self;
        let bias = job.tile.bias.first_chunk().expect("the tile has this length");
        let weights = &job.tile.weights.as_chunks::<N>().0[..job.inputs];
        let segments = job.rows.segments();
        let is_whole = job.first + N * WIDTH <= job.stride;
        let block = if is_whole && job.rows.len() > 1 { BLOCK / N } else { segments };
        for start in (0..segments).step_by(block) {
            let segments = start..segments.min(start + block);
            let bias = (start == 0).then_some(bias);
            for (row, outputs) in job.outputs.chunks_exact_mut(job.stride).enumerate() {
                let (indices, values) = job.rows.inputs(row, &segments);
                let outputs = &mut outputs[job.first..];
                if is_whole {
                    let (sums, _) = outputs.as_chunks_mut();
                    let sums = sums.first_chunk_mut().expect("the tile has this length");
                    sum(bias, sums, weights, indices, values);
                } else {
                    let mut sums = [[0.0; WIDTH]; N];
                    sum(bias, &mut sums, weights, indices, values);
                    outputs.copy_from_slice(&sums.as_flattened()[..outputs.len()]);
                }
            }
        }
    }
}

/// Adds the products of inputs and weights to the sums of a tile, or to the bias if there is one. The sums are a
/// local array, which the compiler keeps in registers.
#[inline(always)]
fn sum<const N: usize>(
    bias: Option<&[Vector; N]>,
    to: &mut [Numbers; N],
    weights: &[[Vector; N]],
    indices: &[u32],
    values: &[f32],
) {
    let mut sums = bias.map_or(*to, |bias| bias.map(|vector| vector.0));
    for (&index, &value) in indices.iter().zip(values) {
        for (sums, weights) in sums.iter_mut().zip(&weights[index as usize]) {
            for (sum, weight) in sums.iter_mut().zip(&weights.0) {
                *sum += weight * value;
            }
        }
    }
    *to = sums;
}
