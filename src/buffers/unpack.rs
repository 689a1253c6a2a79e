//! Packed rows to elements, for callers that keep observations packed.

use std::mem::MaybeUninit;

use super::expand::{Element, Expand, expand, fence};
use crate::buffers::{BufferError, InstructionSet, Task, WriteOnly, check_length};
use crate::threads::for_each_piece;

/// The size in bytes of the output that a thread takes at a time.
const BYTES_PER_PIECE: usize = 1 << 18;

/// The size in bytes of the output for which another thread is started.
const BYTES_PER_THREAD: usize = 1 << 22;

/// The size in bytes from which the output is written with non-temporal stores, because the caches
/// cannot hold it.
const STREAM: usize = 1 << 25;

/// The 64-bit words of a row that are unpacked at a time, from the stack: more than any encoder's.
const PART: usize = 64;

/// The size in bytes of a packed row of this many features: whole 64-bit words.
#[must_use]
pub const fn packed_length(num_features: usize) -> usize {
    8 * num_features.div_ceil(64)
}

/// Writes one element for each of the first `num_features` bits of each packed row, on at most
/// `num_threads` threads; see [`MAX_THREADS`](crate::batch::MAX_THREADS). The rows are as a batch of
/// [`Dtype::Bits`](crate::batch::Dtype::Bits) writes them.
///
/// # Errors
/// [`BufferError`] if the numbers of bytes, features and elements do not fit together.
///
/// ```
/// use starmine::buffers::{InstructionSet, WriteOnly, unpack_bits};
///
/// let packed = [[0b101, 0, 0, 0, 0, 0, 0, 0], [0b010, 0, 0, 0, 0, 0, 0, 0]];
/// let mut features = [9.0f32; 6];
/// unpack_bits(InstructionSet::PORTABLE, packed.as_flattened(), 3, WriteOnly::new(&mut features), 1)?;
/// assert_eq!(features, [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
/// # Ok::<(), starmine::buffers::BufferError>(())
/// ```
pub fn unpack_bits<E: Element>(
    simd: InstructionSet,
    bits: &[u8],
    num_features: usize,
    out: WriteOnly<'_, E>,
    num_threads: usize,
) -> Result<(), BufferError> {
    let row_bytes = packed_length(num_features);
    let rows = bits.len().checked_div(row_bytes).unwrap_or(0);
    check_length("bits", bits.len(), rows * row_bytes)?;
    check_length("out", out.len(), rows.saturating_mul(num_features))?;
    if rows == 0 {
        return Ok(());
    }
    let out = out.elements();
    let total = size_of_val(out);
    let streams = total >= STREAM;
    let threads = num_threads.min(total / BYTES_PER_THREAD);
    if threads <= 1 {
        simd.run(Rows { bits, num_features, out, streams });
        return Ok(());
    }
    let piece = (BYTES_PER_PIECE / (total / rows)).max(1);
    let pieces = bits.chunks(piece * row_bytes).zip(out.chunks_mut(piece * num_features));
    for_each_piece(pieces, &mut vec![(); threads], |(), (bits, out)| {
        simd.run(Rows { bits, num_features, out, streams });
        true
    });
    Ok(())
}

/// Whole rows to be unpacked.
struct Rows<'a, E> {
    bits: &'a [u8],
    num_features: usize,
    out: &'a mut [MaybeUninit<E>],
    /// Whether the output is written with non-temporal stores.
    streams: bool,
}

impl<I: Expand, E: Element> Task<I> for Rows<'_, E> {
    #[inline(always)]
    fn run(self, isa: I) {
        if self.streams && I::STREAMS {
            self.unpack::<I, true>(isa);
            fence();
        } else {
            self.unpack::<I, false>(isa);
        }
    }
}

impl<E: Element> Rows<'_, E> {
    #[inline(always)]
    fn unpack<I: Expand, const STREAM: bool>(self, isa: I) {
        let Rows { bits, num_features, out, .. } = self;
        let mut words = [0; PART];
        let rows = bits.chunks_exact(packed_length(num_features));
        for (packed, row) in rows.zip(out.chunks_exact_mut(num_features)) {
            for (packed, part) in packed.chunks(8 * PART).zip(row.chunks_mut(64 * PART)) {
                for (word, bytes) in words.iter_mut().zip(packed.as_chunks().0) {
                    *word = u64::from_le_bytes(*bytes);
                }
                let (to, length) = (part.as_mut_ptr().cast(), part.len());
                // SAFETY: the part is a whole slice, and there is a word for each 64 elements.
                unsafe { expand::<I, E, STREAM>(isa, &words[..], to, length) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use half::{bf16, f16};

    use super::*;

    /// Rows that differ.
    fn packed(rows: usize, num_features: usize) -> Vec<u8> {
        (0..rows * packed_length(num_features)).map(|index| (index * index / 7) as u8).collect()
    }

    fn check(simd: InstructionSet, rows: usize, num_features: usize, num_threads: usize) {
        let bits = packed(rows, num_features);
        let mut out = vec![9u8; rows * num_features];
        unpack_bits(simd, &bits, num_features, WriteOnly::new(&mut out), num_threads).unwrap();
        let row_bytes = packed_length(num_features);
        for (row, features) in bits.chunks(row_bytes).zip(out.chunks(num_features)) {
            let expected = (0..num_features).map(|bit| row[bit / 8] >> (bit % 8) & 1);
            assert!(features.iter().copied().eq(expected), "{simd}, {num_features} features");
        }
    }

    #[test]
    fn rows_are_unpacked_on_every_instruction_set() {
        for simd in InstructionSet::available() {
            for num_features in [1, 63, 64, 65, 658, 4096, 4097, 10_000] {
                check(simd, 5, num_features, 1);
            }
        }
    }

    fn check_elements<E: Element + PartialEq + Debug>(zero: E, one: E) {
        let bits = packed(3, 100);
        for simd in InstructionSet::available() {
            let (mut out, mut bytes) = (vec![one; 300], vec![9u8; 300]);
            unpack_bits(simd, &bits, 100, WriteOnly::new(&mut out), 1).unwrap();
            unpack_bits(simd, &bits, 100, WriteOnly::new(&mut bytes), 1).unwrap();
            let expected = bytes.iter().map(|&bit| if bit == 1 { one } else { zero });
            assert_eq!(out, expected.collect::<Vec<E>>(), "{simd}");
        }
    }

    #[test]
    fn elements_are_zero_and_one() {
        check_elements(0f32, 1f32);
        check_elements(f16::ZERO, f16::ONE);
        check_elements(bf16::ZERO, bf16::ONE);
        check_elements(0u8, 1u8);
        check_elements(false, true);
    }

    #[test]
    fn many_rows_are_divided_among_threads() {
        // 34 MB, which are written with non-temporal stores.
        let (rows, num_features) = (13_001, 658);
        let bits = packed(rows, num_features);
        let unpacked = |simd, num_threads| {
            let mut out = vec![9f32; rows * num_features];
            unpack_bits(simd, &bits, num_features, WriteOnly::new(&mut out), num_threads).unwrap();
            out
        };
        let expected = unpacked(InstructionSet::PORTABLE, 1);
        for simd in InstructionSet::available() {
            assert!(unpacked(simd, 3) == expected, "{simd}");
        }
    }

    #[test]
    fn no_rows_are_allowed() {
        assert_eq!(
            unpack_bits::<f32>(InstructionSet::PORTABLE, &[], 658, WriteOnly::new(&mut []), 4),
            Ok(())
        );
        assert_eq!(
            unpack_bits::<f32>(InstructionSet::PORTABLE, &[], 0, WriteOnly::new(&mut []), 4),
            Ok(())
        );
    }

    #[test]
    fn wrong_lengths_are_refused() {
        for (bits, num_features, out) in [(8, 3, 4), (9, 3, 3), (8, 65, 65), (8, 0, 0), (0, 3, 3)] {
            let (bits, mut out) = (vec![0; bits], vec![0u8; out]);
            let refused = unpack_bits(
                InstructionSet::PORTABLE,
                &bits,
                num_features,
                WriteOnly::new(&mut out),
                1,
            );
            let (bits, out) = (bits.len(), out.len());
            assert!(refused.is_err(), "{bits} bytes, {num_features} features, {out} elements");
        }
    }
}
