//! Linear layers over sparse inputs: a sum of weight rows, one for each non-zero input.
//!
//! Each output is summed in the order of the inputs, without fused multiply-add. Wider vectors only
//! compute more outputs at once, so the logits are equal to the bit on every processor.

use std::array::from_fn;

/// Outputs in a SIMD vector. Rows are padded with zeros.
const LANES: usize = 8;

/// The outputs of one vector.
type Octet = [f32; LANES];

/// Non-zero inputs: index and value, in ascending order of the index.
pub(super) type Inputs = Vec<(u32, f32)>;

/// The number of observations that pass a layer together.
pub(super) const ROWS: usize = 16;

/// One number for each of these observations.
pub(super) type Lanes = [f32; ROWS];

/// Bounds of an output.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UnitBounds {
    /// No absolute value of a partial sum is larger.
    pub magnitude: f64,
    /// No output is larger.
    pub output: f64,
}

/// A linear layer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Linear {
    outputs: usize,
    bias: Vec<Octet>,
    /// The weights, input-major: one row for each input, as long as the bias.
    rows: Vec<Octet>,
}

impl Linear {
    /// A layer from output-major weights of shape (outputs, inputs) and a bias of shape (outputs).
    pub fn new(weights: &[f32], bias: &[f32]) -> Linear {
        let (outputs, inputs) = (bias.len(), weights.len() / bias.len());
        let width = outputs.div_ceil(LANES);
        let mut rows = vec![Octet::default(); inputs * width];
        let lanes = rows.as_flattened_mut();
        for (output, weights) in weights.chunks_exact(inputs).enumerate() {
            for (input, &weight) in weights.iter().enumerate() {
                lanes[input * width * LANES + output] = weight;
            }
        }
        let mut padded = vec![Octet::default(); width];
        padded.as_flattened_mut()[..outputs].copy_from_slice(bias);
        Linear { outputs, bias: padded, rows }
    }

    /// Number of outputs, without padding.
    pub const fn outputs(&self) -> usize {
        self.outputs
    }

    /// The bounds of each output for inputs from 0 to these. The magnitudes also hold for inputs from
    /// the negatives of these.
    pub fn bounds(&self, inputs: &[f64]) -> Vec<UnitBounds> {
        let bias = self.bias.as_flattened().iter().map(|&bias| f64::from(bias));
        let bounds = bias.map(|bias| UnitBounds { magnitude: bias.abs(), output: bias });
        let mut bounds: Vec<_> = bounds.take(self.outputs).collect();
        for (row, input) in self.rows.chunks_exact(self.bias.len()).zip(inputs) {
            for (unit, &weight) in bounds.iter_mut().zip(row.as_flattened()) {
                let product = f64::from(weight) * input;
                unit.magnitude += product.abs();
                unit.output += product.max(0.0);
            }
        }
        bounds
    }

    /// Computes the outputs in `sums`, which must have room for them.
    pub fn apply<'a>(&self, inputs: &[(u32, f32)], sums: &'a mut Accumulator) -> &'a mut [f32] {
        let sums = &mut sums.0[..self.bias.len()];
        sums.copy_from_slice(&self.bias);
        add_rows(&self.rows, inputs, sums);
        &mut sums.as_flattened_mut()[..self.outputs]
    }

    /// Computes the outputs of several observations at once, each summed in the order of [`Linear::apply`]. Inputs that
    /// are zero in all observations are skipped; `inputs` is scratch memory for the indices of the others.
    pub fn apply_rows(&self, values: &[Lanes], inputs: &mut Vec<u32>, outputs: &mut Vec<Lanes>) {
        let is_zero = |lanes: &Lanes| {
            // The shift drops the sign, so that -0 counts as zero.
            lanes.iter().fold(0, |bits, number| bits | number.to_bits()) << 1 == 0
        };
        inputs.clear();
        let found = values.iter().enumerate().filter(|(_, lanes)| !is_zero(lanes));
        inputs.extend(found.map(|(input, _)| input as u32));
        outputs.clear();
        outputs.resize(self.outputs, [0.0; ROWS]);
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has the instructions.
            return unsafe { self.apply_rows_avx512(values, inputs, outputs) };
        } else if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the instructions.
            return unsafe { self.apply_rows_avx2(values, inputs, outputs) };
        }
        self.apply_rows_anywhere(values, inputs, outputs);
    }

    /// Keeps the sums of eight outputs for all observations in registers. It uses intrinsics because the code that the
    /// compiler generates from [`Linear::apply_rows_anywhere`] for AVX-512 has a twentieth of the speed.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    fn apply_rows_avx512(&self, values: &[Lanes], inputs: &[u32], outputs: &mut [Lanes]) {
        use std::arch::x86_64::{
            _mm512_add_ps, _mm512_loadu_ps, _mm512_mul_ps, _mm512_set1_ps, _mm512_storeu_ps,
        };
        let columns = self.bias.len();
        for (column, outputs) in outputs.chunks_mut(LANES).enumerate() {
            let mut sums = self.bias[column].map(|bias| _mm512_set1_ps(bias));
            for &input in inputs {
                let weights = &self.rows[input as usize * columns + column];
                // SAFETY: there are sixteen values.
                let values = unsafe { _mm512_loadu_ps(values[input as usize].as_ptr()) };
                for (sum, &weight) in sums.iter_mut().zip(weights) {
                    *sum = _mm512_add_ps(*sum, _mm512_mul_ps(_mm512_set1_ps(weight), values));
                }
            }
            for (output, &sum) in outputs.iter_mut().zip(&sums) {
                // SAFETY: there is room for sixteen numbers.
                unsafe { _mm512_storeu_ps(output.as_mut_ptr(), sum) };
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn apply_rows_avx2(&self, values: &[Lanes], inputs: &[u32], outputs: &mut [Lanes]) {
        self.apply_rows_anywhere(values, inputs, outputs);
    }

    /// Keeps the sums of eight outputs for eight observations in registers.
    #[inline(always)]
    fn apply_rows_anywhere(&self, values: &[Lanes], inputs: &[u32], outputs: &mut [Lanes]) {
        const WIDTH: usize = 8;
        let columns = self.bias.len();
        for (column, outputs) in outputs.chunks_mut(LANES).enumerate() {
            for first in (0..ROWS).step_by(WIDTH) {
                let mut sums = self.bias[column].map(|bias| [bias; WIDTH]);
                for &input in inputs {
                    let weights = &self.rows[input as usize * columns + column];
                    let values = &values[input as usize][first..first + WIDTH];
                    let values: [f32; WIDTH] = values.try_into().expect("a part of the lanes");
                    sums = from_fn(|k| from_fn(|lane| sums[k][lane] + weights[k] * values[lane]));
                }
                for (output, sums) in outputs.iter_mut().zip(&sums) {
                    output[first..first + WIDTH].copy_from_slice(sums);
                }
            }
        }
    }
}

/// Scratch memory for the outputs of a layer.
#[derive(Clone, Debug)]
pub(super) struct Accumulator(Vec<Octet>);

impl Accumulator {
    /// Scratch memory for this number of outputs.
    pub fn new(outputs: usize) -> Accumulator {
        Accumulator(vec![Octet::default(); outputs.div_ceil(LANES)])
    }

    /// The sums, with padding.
    pub fn sums(&self) -> &[f32] {
        self.0.as_flattened()
    }
}

/// Adds the row of each input, scaled by its value.
fn add_rows(rows: &[Octet], inputs: &[(u32, f32)], sums: &mut [Octet]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the instructions.
        return unsafe { add_rows_avx2(rows, inputs, sums) };
    }
    add_rows_anywhere(rows, inputs, sums);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_rows_avx2(rows: &[Octet], inputs: &[(u32, f32)], sums: &mut [Octet]) {
    add_rows_anywhere(rows, inputs, sums);
}

#[inline(always)]
fn add_rows_anywhere(rows: &[Octet], inputs: &[(u32, f32)], sums: &mut [Octet]) {
    let width = sums.len();
    let row = |input: u32| &rows[input as usize * width..][..width];
    // Four rows at a time, so that the sums are loaded and stored a quarter as often.
    let (fours, rest) = inputs.as_chunks::<4>();
    for four in fours {
        let rows = four.map(|(input, _)| row(input));
        for (column, sum) in sums.iter_mut().enumerate() {
            for (row, (_, value)) in rows.iter().zip(four) {
                add(sum, &row[column], *value);
            }
        }
    }
    for &(input, value) in rest {
        for (sum, weights) in sums.iter_mut().zip(row(input)) {
            add(sum, weights, value);
        }
    }
}

#[inline(always)]
fn add(sums: &mut Octet, weights: &Octet, value: f32) {
    for lane in 0..LANES {
        sums[lane] += weights[lane] * value;
    }
}
