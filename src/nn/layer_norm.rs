//! Layer normalisation, as in torch except for the order of summation.

/// Added to the variance, as in torch, to avoid a division by zero.
const EPSILON: f32 = 1e-5;
/// Number of independent partial sums.
const LANES: usize = 8;

/// Normalises a layer's outputs to mean 0 and variance 1, then scales and shifts each.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LayerNorm {
    pub scale: Vec<f32>,
    pub shift: Vec<f32>,
}

impl LayerNorm {
    /// Normalises in place. The length must be that of `scale`.
    pub fn apply(&self, numbers: &mut [f32]) {
        let mean = average(numbers, |number| number);
        let variance = average(numbers, |number| (number - mean) * (number - mean));
        let root = (variance + EPSILON).sqrt();
        for (number, (scale, shift)) in numbers.iter_mut().zip(self.scale.iter().zip(&self.shift)) {
            *number = (*number - mean) / root * scale + shift;
        }
    }
}

/// The mean of `of` over the numbers. The order of summation is the same on every processor.
fn average(numbers: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let (octets, rest) = numbers.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for octet in octets {
        for (sum, &number) in sums.iter_mut().zip(octet) {
            *sum += of(number);
        }
    }
    let sum: f32 = sums.into_iter().chain(rest.iter().map(|&number| of(number))).sum();
    sum / numbers.len() as f32
}
