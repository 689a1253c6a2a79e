//! The features of many observations, for training in `starmine.torch`.

use super::color_features::ColorFeatures;
use super::real::Real;
use crate::buffers::{BufferError, WriteOnly, check_length, packed_length};
use crate::threads::for_each_piece;

/// Rows that a thread takes at a time: a tenth of a millisecond.
const ROWS_PER_PIECE: usize = 1 << 7;

/// Rows for which another thread is started.
const ROWS_PER_THREAD: usize = 1 << 9;

impl ColorFeatures {
    /// Writes the features of many packed observations, on at most `num_threads` threads. The rows
    /// are as a batch of [`Dtype::Bits`](crate::batch::Dtype::Bits) writes them.
    ///
    /// # Errors
    /// [`BufferError`] if the numbers of bytes and elements do not fit together.
    pub fn write_rows<F: Real>(
        &self,
        bits: &[u8],
        out: WriteOnly<'_, F>,
        num_threads: usize,
    ) -> Result<(), BufferError> {
        let (row_bytes, length) = (packed_length(self.bits()), self.len());
        let rows = bits.len() / row_bytes;
        check_length("bits", bits.len(), rows * row_bytes)?;
        check_length("out", out.len(), rows.saturating_mul(length))?;
        let threads = num_threads.min(rows / ROWS_PER_THREAD).max(1);
        let pieces = bits
            .chunks(ROWS_PER_PIECE * row_bytes)
            .zip(out.elements().chunks_mut(ROWS_PER_PIECE * length));
        for_each_piece(pieces, &mut vec![(); threads], |(), (bits, out)| {
            let mut words = vec![0; row_bytes / 8];
            let mut numbers = vec![0.0; length];
            for (packed, row) in bits.chunks_exact(row_bytes).zip(out.chunks_exact_mut(length)) {
                for (word, bytes) in words.iter_mut().zip(packed.as_chunks().0) {
                    *word = u64::from_le_bytes(*bytes);
                }
                self.write(&words, &mut numbers);
                for (to, &number) in row.iter_mut().zip(&numbers) {
                    to.write(F::nearest(number));
                }
            }
            true
        });
        Ok(())
    }
}
