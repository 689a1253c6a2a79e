//! Linear layers over sparse inputs: a sum of weight rows, one for each non-zero input.
//!
//! Each output is summed in the order of the inputs, without fused multiply-add. Wider vectors only
//! compute more outputs at once, so the outputs are equal to the bit on every processor and for
//! every number of rows.

use super::sparse_rows::SparseRows;
use crate::buffers::Simd;

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
    /// If an index is not that of an input, or if the processor does not have the instruction set.
    pub fn apply(&self, simd: Simd, rows: &SparseRows, outputs: &mut Vec<f32>) {
        assert!(simd.is_available(), "{simd} is not available");
        // Every element is overwritten below.
        outputs.resize(rows.len() * self.outputs, 0.0);
        if outputs.is_empty() {
            return;
        }
        let mut first = 0;
        for tile in &self.tiles {
            let job = Job { tile, rows, first, stride: self.outputs, inputs: self.inputs };
            match tile.bias.len() {
                1 => job.run::<1>(simd, outputs),
                2 => job.run::<2>(simd, outputs),
                3 => job.run::<3>(simd, outputs),
                4 => job.run::<4>(simd, outputs),
                5 => job.run::<5>(simd, outputs),
                _ => job.run::<LONGEST_TILE>(simd, outputs),
            }
            first += tile.bias.len() * WIDTH;
        }
    }
}

/// The outputs of a tile for all rows.
#[derive(Clone, Copy)]
struct Job<'a> {
    tile: &'a Tile,
    rows: &'a SparseRows,
    /// The first output of the tile.
    first: usize,
    /// The outputs of the layer.
    stride: usize,
    /// The inputs of the layer.
    inputs: usize,
}

impl Job<'_> {
    fn run<const N: usize>(self, simd: Simd, outputs: &mut [f32]) {
        match simd {
            // SAFETY: `Linear::apply`, which makes this, has asserted that the processor has the
            // instruction set.
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512 => unsafe { self.run_avx512::<N>(outputs) },
            // SAFETY: likewise.
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 => unsafe { self.run_avx2::<N>(outputs) },
            _ => self.run_with::<N>(outputs, sum_portable::<N>),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    fn run_avx512<const N: usize>(self, outputs: &mut [f32]) {
        self.run_with::<N>(outputs, |bias, sums, weights, indices, values| {
            sum_avx512::<N>(bias, sums, weights, indices, values);
        });
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn run_avx2<const N: usize>(self, outputs: &mut [f32]) {
        self.run_with::<N>(outputs, |bias, sums, weights, indices, values| {
            sum_avx2::<N>(bias, sums, weights, indices, values);
        });
    }

    #[inline(always)]
    fn run_with<const N: usize>(
        self,
        outputs: &mut [f32],
        sum: impl Fn(Option<&[Vector; N]>, &mut [Numbers; N], &[[Vector; N]], &[u32], &[f32]),
    ) {
        let bias = self.tile.bias.first_chunk().expect("the tile has this length");
        let weights = &self.tile.weights.as_chunks::<N>().0[..self.inputs];
        let segments = self.rows.segments();
        let is_whole = self.first + N * WIDTH <= self.stride;
        let block = if is_whole && self.rows.len() > 1 { BLOCK / N } else { segments };
        for start in (0..segments).step_by(block) {
            let segments = start..segments.min(start + block);
            let bias = (start == 0).then_some(bias);
            for (row, outputs) in outputs.chunks_exact_mut(self.stride).enumerate() {
                let (indices, values) = self.rows.inputs(row, &segments);
                let outputs = &mut outputs[self.first..];
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

/// Adds the products of inputs and weights to the sums of a tile, or to the bias if there is one.
#[inline(always)]
fn sum_portable<const N: usize>(
    bias: Option<&[Vector; N]>,
    sums: &mut [Numbers; N],
    weights: &[[Vector; N]],
    indices: &[u32],
    values: &[f32],
) {
    if let Some(bias) = bias {
        *sums = bias.map(|vector| vector.0);
    }
    for (&index, &value) in indices.iter().zip(values) {
        for (sums, weights) in sums.iter_mut().zip(&weights[index as usize]) {
            for (sum, weight) in sums.iter_mut().zip(&weights.0) {
                *sum += weight * value;
            }
        }
    }
}

/// The same with the sums in registers. Intrinsics, because the compiler keeps the sums of
/// [`sum_portable`] in memory.
#[cfg(target_arch = "x86_64")]
macro_rules! sum_in_registers {
    ($name:ident, $features:literal, $registers:literal, $zero:ident, $load:ident, $store:ident, $splat:ident, $add:ident, $multiply:ident) => {
        #[target_feature(enable = $features)]
        #[inline]
        fn $name<const N: usize>(
            bias: Option<&[Vector; N]>,
            to: &mut [Numbers; N],
            weights: &[[Vector; N]],
            indices: &[u32],
            values: &[f32],
        ) {
            use std::arch::x86_64::{$add, $load, $multiply, $splat, $store, $zero};
            /// The numbers in a register.
            const LANES: usize = WIDTH / $registers;
            let mut sums = [[$zero(); $registers]; N];
            for (vector, sums) in sums.iter_mut().enumerate() {
                let from = bias.map_or(&to[vector], |bias| &bias[vector].0);
                for (sum, from) in sums.iter_mut().zip(from.as_chunks::<LANES>().0) {
                    // SAFETY: the chunk has as many numbers as the register.
                    *sum = unsafe { $load(from.as_ptr()) };
                }
            }
            for (&index, &value) in indices.iter().zip(values) {
                let value = $splat(value);
                for (sums, weights) in sums.iter_mut().zip(&weights[index as usize]) {
                    for (sum, weights) in sums.iter_mut().zip(weights.0.as_chunks::<LANES>().0) {
                        // SAFETY: as above.
                        let weights = unsafe { $load(weights.as_ptr()) };
                        *sum = $add(*sum, $multiply(weights, value));
                    }
                }
            }
            for (to, sums) in to.iter_mut().zip(&sums) {
                for (to, &sum) in to.as_chunks_mut::<LANES>().0.iter_mut().zip(sums) {
                    // SAFETY: as above.
                    unsafe { $store(to.as_mut_ptr(), sum) };
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
sum_in_registers!(
    sum_avx512,
    "avx512f",
    1,
    _mm512_setzero_ps,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_set1_ps,
    _mm512_add_ps,
    _mm512_mul_ps
);
#[cfg(target_arch = "x86_64")]
sum_in_registers!(
    sum_avx2,
    "avx2",
    2,
    _mm256_setzero_ps,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_set1_ps,
    _mm256_add_ps,
    _mm256_mul_ps
);
