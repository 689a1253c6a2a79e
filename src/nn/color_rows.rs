//! Packed rows to features by colour, for callers that keep observations packed.

use half::{bf16, f16};

use super::unpack::{packed_length, share};
use crate::nn::ColorFeatures;
use crate::nn::{BufferError, check_length};

/// Rows that a thread takes at a time: a tenth of a millisecond.
const PIECE: usize = 1 << 7;

/// Rows for which another thread is started.
const THREAD: usize = 1 << 9;

/// A type of floating-point numbers.
pub trait Float: Copy + Send {
    /// The nearest number of this type.
    fn nearest(number: f32) -> Self;
}

impl Float for f32 {
    fn nearest(number: f32) -> f32 {
        number
    }
}

impl Float for f16 {
    fn nearest(number: f32) -> f16 {
        f16::from_f32(number)
    }
}

impl Float for bf16 {
    fn nearest(number: f32) -> bf16 {
        bf16::from_f32(number)
    }
}

/// Writes the features of each packed observation, on at most `num_threads` threads. The rows are as a
/// batch of [`Dtype::Bits`](crate::batch::Dtype::Bits) writes them.
///
/// # Errors
/// [`BufferError`] if the numbers of bytes and elements do not fit together.
pub fn color_features<F: Float>(
    features: &ColorFeatures,
    bits: &[u8],
    out: &mut [F],
    num_threads: usize,
) -> Result<(), BufferError> {
    let (row_bytes, length) = (packed_length(features.bits()), features.len());
    let rows = bits.len() / row_bytes;
    check_length("bits", bits.len(), rows * row_bytes)?;
    check_length("out", out.len(), rows.saturating_mul(length))?;
    let threads = num_threads.min(rows / THREAD).max(1);
    let pieces = bits.chunks(PIECE * row_bytes).zip(out.chunks_mut(PIECE * length));
    share(pieces, threads, |(bits, out)| {
        let mut words = vec![0; row_bytes / 8];
        let mut numbers = vec![0.0; length];
        for (packed, row) in bits.chunks_exact(row_bytes).zip(out.chunks_exact_mut(length)) {
            for (word, bytes) in words.iter_mut().zip(packed.as_chunks().0) {
                *word = u64::from_le_bytes(*bytes);
            }
            features.write(&words, &mut numbers);
            row.iter_mut().zip(&numbers).for_each(|(to, &number)| *to = F::nearest(number));
        }
    });
    Ok(())
}
