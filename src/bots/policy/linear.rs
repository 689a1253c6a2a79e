//! Linear layers over sparse inputs: a sum of weight rows, one for each non-zero input.
//!
//! Each output is summed in the order of the inputs, without fused multiply-add. Wider vectors only
//! compute more outputs at once, so the logits are equal to the bit on every processor.

/// Outputs in a SIMD vector. Rows are padded with zeros.
const LANES: usize = 8;

/// The outputs of one vector.
type Octet = [f32; LANES];

/// Non-zero inputs: index and value, in ascending order of the index.
pub(super) type Inputs = Vec<(u32, f32)>;

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
