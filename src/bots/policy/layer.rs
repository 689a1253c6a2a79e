//! Layers as they are computed: a sum of rows, one for each input that is not zero.
//!
//! Each output is a sum in the order of the inputs, of products that are rounded before they are
//! added. Wider vectors compute more outputs at once and nothing else, so that a network says the
//! same, to the bit, on every processor.

/// Outputs that lie together; rows are filled up with zeros.
const LANES: usize = 8;

/// Outputs side by side.
type Octet = [f32; LANES];

/// Inputs that are not zero: index and value, in the order of the indices.
pub(super) type Inputs = Vec<(u32, f32)>;

/// A linear layer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layer {
    outputs: usize,
    bias: Vec<Octet>,
    /// A row for each input, as long as the bias.
    rows: Vec<Octet>,
}

impl Layer {
    /// Of weights (outputs, inputs), one output after another, and a bias (outputs).
    pub fn new(weights: &[f32], bias: &[f32]) -> Layer {
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
        Layer { outputs, bias: padded, rows }
    }

    /// Outputs without those that fill up.
    pub const fn outputs(&self) -> usize {
        self.outputs
    }

    /// The outputs, as many as there are, in `sums`, which has room for them.
    pub fn apply<'a>(&self, inputs: &[(u32, f32)], sums: &'a mut Sums) -> &'a mut [f32] {
        let sums = &mut sums.0[..self.bias.len()];
        sums.copy_from_slice(&self.bias);
        add_rows(&self.rows, inputs, sums);
        &mut sums.as_flattened_mut()[..self.outputs]
    }
}

/// Room for the outputs of a layer.
#[derive(Clone, Debug)]
pub(super) struct Sums(Vec<Octet>);

impl Sums {
    /// Room for so many outputs.
    pub fn new(outputs: usize) -> Sums {
        Sums(vec![Octet::default(); outputs.div_ceil(LANES)])
    }
}

/// Adds the row of each input, times the input.
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
    // Four rows for each time that the sums are loaded and stored.
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
