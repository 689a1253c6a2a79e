//! The non-zero inputs of many rows: most inputs of a layer are zero, because most features are zero
//! and hidden layers end with ReLU.

use std::ops::Range;

#[cfg(target_arch = "x86_64")]
use crate::buffers::{Avx2, Avx512};
use crate::buffers::{InstructionSet, Portable, Task};

/// The largest number of elements that are written behind the last one.
const SLACK: usize = 16;

/// The most inputs of a segment.
const SEGMENT: usize = 96;

/// For each row the indices of the non-zero inputs in ascending order, and their values.
///
/// A row has segments of at most [`SEGMENT`] inputs, zeros included. All rows have their segments
/// at the same inputs.
#[derive(Clone, Debug, Default)]
pub struct SparseRows {
    /// The segments of a row.
    segments: usize,
    /// For each segment of each row the number of non-zero inputs of all segments up to it.
    ends: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
}

impl SparseRows {
    /// Removes all rows.
    pub fn clear(&mut self) {
        self.ends.clear();
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.ends.len().checked_div(self.segments).unwrap_or(0)
    }

    /// Number of segments of each row.
    pub const fn segments(&self) -> usize {
        self.segments
    }

    /// The indices and the values of some segments of a row.
    #[inline(always)]
    pub fn inputs(&self, row: usize, segments: &Range<usize>) -> (&[u32], &[f32]) {
        let first = row * self.segments + segments.start;
        let start = if first == 0 { 0 } else { self.ends[first - 1] };
        let inputs = start..self.ends[first + segments.len() - 1];
        (&self.indices[inputs.clone()], &self.values[inputs])
    }

    /// Replaces all rows by the numbers of a matrix with rows of this length.
    pub fn fill(&mut self, simd: InstructionSet, numbers: &[f32], length: usize) {
        self.clear();
        numbers.chunks_exact(length).for_each(|row| self.push(simd, [row]));
    }

    /// Appends a row, which is given in parts: its numbers that are not zero.
    pub fn push<const PARTS: usize>(&mut self, simd: InstructionSet, parts: [&[f32]; PARTS]) {
        self.begin_row(parts.iter().map(|part| part.len().div_ceil(SEGMENT)).sum());
        simd.run(Push { to: self, parts });
    }

    /// Checks that a row has as many segments as the rows before it.
    fn begin_row(&mut self, segments: usize) {
        assert!(self.ends.is_empty() || self.segments == segments, "rows of one length");
        self.segments = segments;
    }

    fn reserve(&mut self, length: usize) {
        if self.indices.len() < length + SLACK {
            self.indices.resize(length + SLACK, 0);
            self.values.resize(length + SLACK, 0.0);
        }
    }
}

/// A row that is appended, in parts.
struct Push<'a, const PARTS: usize> {
    to: &'a mut SparseRows,
    parts: [&'a [f32]; PARTS],
}

impl<I: Compress, const PARTS: usize> Task<I> for Push<'_, PARTS> {
    #[inline(always)]
    fn run(self, isa: I) {
        let Push { to, parts } = self;
        let mut end = to.ends.last().copied().unwrap_or(0);
        let mut first = 0;
        for part in parts {
            for segment in part.chunks(SEGMENT) {
                to.reserve(end + segment.len());
                let (indices, values) = (&mut to.indices[end..], &mut to.values[end..]);
                end += isa.compress(segment, first, indices, values);
                first += segment.len();
                to.ends.push(end);
            }
        }
    }
}

/// The numbers of a row that are not zero.
trait Compress: Copy {
    /// Writes the indices and the values of the numbers that are not zero, and returns their number. The index of the
    /// first number is `first`.
    ///
    /// # Panics
    /// If an output is not longer than the row by [`SLACK`].
    fn compress(self, row: &[f32], first: usize, indices: &mut [u32], values: &mut [f32]) -> usize;
}

impl Compress for Portable {
    #[inline(always)]
    fn compress(self, row: &[f32], first: usize, indices: &mut [u32], values: &mut [f32]) -> usize {
        let (indices, values) = (&mut indices[..=row.len()], &mut values[..=row.len()]);
        let mut count = 0;
        for (index, &number) in row.iter().enumerate() {
            // Without a branch, which could not be predicted. `count` is at most `index`.
            indices[count] = (first + index) as u32;
            values[count] = number;
            count += usize::from(number != 0.0);
        }
        count
    }
}

#[cfg(target_arch = "x86_64")]
impl Compress for Avx512 {
    #[inline(always)]
    fn compress(self, row: &[f32], first: usize, indices: &mut [u32], values: &mut [f32]) -> usize {
        use std::arch::x86_64::*;
        assert!(indices.len() >= row.len() + SLACK && values.len() >= row.len() + SLACK);
        let (sixteens, rest) = row.as_chunks::<16>();
        // SAFETY: the token exists only if the processor has the instructions.
        let mut places = unsafe {
            let places = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            _mm512_add_epi32(places, _mm512_set1_epi32(first as i32))
        };
        let mut count = 0;
        for sixteen in sixteens {
            // SAFETY: as above; sixteen numbers are read, and sixteen are written from `count` on, which is at
            // most the number of those read before.
            unsafe {
                let numbers = _mm512_loadu_ps(sixteen.as_ptr());
                let kept = _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(numbers, _mm512_setzero_ps());
                let (numbers, kept_places) = (
                    _mm512_maskz_compress_ps(kept, numbers),
                    _mm512_maskz_compress_epi32(kept, places),
                );
                _mm512_storeu_ps(values.as_mut_ptr().add(count), numbers);
                _mm512_storeu_si512(indices.as_mut_ptr().add(count).cast(), kept_places);
                count += kept.count_ones() as usize;
                places = _mm512_add_epi32(places, _mm512_set1_epi32(16));
            }
        }
        let first = first + row.len() - rest.len();
        count + Portable.compress(rest, first, &mut indices[count..], &mut values[count..])
    }
}

/// For each byte the places of its set bits, in ascending order.
#[cfg(target_arch = "x86_64")]
static PLACES: [[u32; 8]; 256] = {
    let mut places = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                places[byte][count] = bit;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    places
};

#[cfg(target_arch = "x86_64")]
impl Compress for Avx2 {
    #[inline(always)]
    fn compress(self, row: &[f32], first: usize, indices: &mut [u32], values: &mut [f32]) -> usize {
        use std::arch::x86_64::*;
        assert!(indices.len() >= row.len() + SLACK && values.len() >= row.len() + SLACK);
        let (eights, rest) = row.as_chunks::<8>();
        let (mut index, mut count) = (first, 0);
        for eight in eights {
            // SAFETY: the token exists only if the processor has the instructions; eight numbers are
            // read, and eight are written from `count` on, which is at most the number of those read
            // before.
            unsafe {
                let numbers = _mm256_loadu_ps(eight.as_ptr());
                let kept = _mm256_cmp_ps::<_CMP_NEQ_UQ>(numbers, _mm256_setzero_ps());
                let kept = _mm256_movemask_ps(kept) as usize;
                let places = _mm256_loadu_si256(PLACES[kept].as_ptr().cast());
                let numbers = _mm256_permutevar8x32_ps(numbers, places);
                _mm256_storeu_ps(values.as_mut_ptr().add(count), numbers);
                let places = _mm256_add_epi32(places, _mm256_set1_epi32(index as i32));
                _mm256_storeu_si256(indices.as_mut_ptr().add(count).cast(), places);
                count += kept.count_ones() as usize;
            }
            index += 8;
        }
        count + Portable.compress(rest, index, &mut indices[count..], &mut values[count..])
    }
}
