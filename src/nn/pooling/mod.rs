//! Pooling over the colours in one pass over memory: what lies between the linear layers of a
//! [`ColorNetwork`](super::color_network::ColorNetwork). Its gradient is for training in
//! `starmine.torch`.
//!
//! All colours of an observation pass the same linear layer; the sums of one colour are its row,
//! and its units after ReLU are its tower. The mean and the maximum over the colours do not depend
//! on their order.

mod gradient;

use std::mem::MaybeUninit;

pub use gradient::PoolingGradient;

use super::real::Real;
use crate::buffers::{BufferError, InstructionSet, Task, WriteOnly, check_length};
use crate::threads::for_each_piece;

/// The size in elements of the towers that a thread takes at a time.
const ELEMENTS_PER_PIECE: usize = 1 << 15;

/// The size in elements of the towers for which another thread is started.
const ELEMENTS_PER_THREAD: usize = 1 << 18;

/// The sizes of a layer: its colours, and the units of the tower of each.
#[derive(Clone, Copy, Debug)]
pub struct PoolingSize {
    /// Number of colours.
    pub colors: usize,
    /// Units of a tower.
    pub width: usize,
}

impl PoolingSize {
    const fn tower(self) -> usize {
        self.colors * self.width
    }

    /// The number of observations of arrays with these numbers of elements.
    fn observations(
        self,
        towers: &[(&'static str, usize)],
        pooled: &[(&'static str, usize)],
        shared: (&'static str, usize),
    ) -> Result<usize, BufferError> {
        let count = shared.1.checked_div(self.width).unwrap_or(0);
        check_length(shared.0, shared.1, count * self.width)?;
        for &(name, length) in towers {
            check_length(name, length, count.saturating_mul(self.tower()))?;
        }
        for &(name, length) in pooled {
            check_length(name, length, count.saturating_mul(2 * self.width))?;
        }
        Ok(count)
    }

    /// How many observations make a piece, and how many threads work on `count` observations.
    fn shares(self, count: usize, num_threads: usize) -> (usize, usize) {
        let tower = self.tower().max(1);
        (
            (ELEMENTS_PER_PIECE / tower).max(1),
            num_threads.min(count.saturating_mul(tower) / ELEMENTS_PER_THREAD).max(1),
        )
    }
}

/// The inputs of a layer, and where its results go: arrays of N observations, row by row.
#[derive(Debug)]
pub struct Pooling<'a, F> {
    /// N * colours * width.
    pub rows: &'a [F],
    /// N * width, added to the row of each colour.
    pub shared: &'a [F],
    /// N * colours * width: the ReLU of the sums.
    pub tower: WriteOnly<'a, F>,
    /// N * 2 * width: the mean of `tower` over the colours, then its maximum.
    pub pooled: WriteOnly<'a, F>,
}

impl<F: Real> Pooling<'_, F> {
    /// Computes the layer on at most `num_threads` threads.
    ///
    /// # Errors
    /// [`BufferError`] if the lengths do not fit together.
    pub fn run(
        self,
        simd: InstructionSet,
        size: PoolingSize,
        num_threads: usize,
    ) -> Result<(), BufferError> {
        let Pooling { rows, shared, tower, pooled } = self;
        let count = size.observations(
            &[("rows", rows.len()), ("tower", tower.len())],
            &[("pooled", pooled.len())],
            ("shared", shared.len()),
        )?;
        if count == 0 || size.tower() == 0 {
            return Ok(());
        }
        let (piece, threads) = size.shares(count, num_threads);
        let (towers, width) = (piece * size.tower(), piece * size.width);
        let inputs = rows.chunks(towers).zip(shared.chunks(width));
        let (tower, pooled) = (tower.elements(), pooled.elements());
        let outputs = tower.chunks_mut(towers).zip(pooled.chunks_mut(2 * width));
        for_each_piece(inputs.zip(outputs), &mut vec![(); threads], |(), (inputs, outputs)| {
            let ((rows, shared), (tower, pooled)) = (inputs, outputs);
            simd.run(Observations { size, rows, shared, tower, pooled });
            true
        });
        Ok(())
    }
}

/// Whole observations.
struct Observations<'a, F> {
    size: PoolingSize,
    rows: &'a [F],
    shared: &'a [F],
    tower: &'a mut [MaybeUninit<F>],
    pooled: &'a mut [MaybeUninit<F>],
}

impl<I, F: Real> Task<I> for Observations<'_, F> {
    #[inline(always)]
    fn run(self, _: I) {
        let Observations { size, rows, shared, tower, pooled } = self;
        let PoolingSize { colors, width } = size;
        let (mut sum, mut largest) = (vec![0.0f32; width], vec![0.0f32; width]);
        let inputs = rows.chunks_exact(colors * width).zip(shared.chunks_exact(width));
        let outputs =
            tower.chunks_exact_mut(colors * width).zip(pooled.chunks_exact_mut(2 * width));
        for ((rows, shared), (tower, pooled)) in inputs.zip(outputs) {
            sum.fill(0.0);
            largest.fill(0.0);
            for (row, tower) in rows.chunks_exact(width).zip(tower.chunks_exact_mut(width)) {
                for unit in 0..width {
                    let number = row[unit].widened() + shared[unit].widened();
                    // Comparisons that let nan pass.
                    let number = F::nearest(if number <= 0.0 { 0.0 } else { number });
                    tower[unit].write(number);
                    let number = number.widened();
                    sum[unit] += number;
                    largest[unit] = if number <= largest[unit] { largest[unit] } else { number };
                }
            }
            let (mean, maximum) = pooled.split_at_mut(width);
            for unit in 0..width {
                mean[unit].write(F::nearest(sum[unit] / colors as f32));
                maximum[unit].write(F::nearest(largest[unit]));
            }
        }
    }
}

#[cfg(test)]
mod tests;
