//! Layer normalisation, as torch computes it, but with sums in an order of its own.

/// What is added to the variance, so that equal numbers have a root to be divided by.
const EPSILON: f32 = 1e-5;
/// Sums side by side.
const LANES: usize = 8;

/// Makes mean and variance of a layer's outputs 0 and 1, then scales and shifts each.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Norm {
    pub scale: Vec<f32>,
    pub shift: Vec<f32>,
}

impl Norm {
    /// Normalises as many numbers as it has scales.
    pub fn apply(&self, numbers: &mut [f32]) {
        let mean = average(numbers, |number| number);
        let variance = average(numbers, |number| (number - mean) * (number - mean));
        let root = (variance + EPSILON).sqrt();
        for (number, (scale, shift)) in numbers.iter_mut().zip(self.scale.iter().zip(&self.shift)) {
            *number = (*number - mean) / root * scale + shift;
        }
    }
}

/// The mean of what is made of each, summed in the same order on every processor.
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
