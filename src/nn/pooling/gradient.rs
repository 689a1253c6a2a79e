//! The gradient of pooling, in one pass over memory.

use std::mem::MaybeUninit;

use super::PoolingSize;
use crate::buffers::{BufferError, InstructionSet, Task, WriteOnly};
use crate::nn::real::Real;
use crate::threads::for_each_piece;

/// The results of a layer with their gradients, and where the gradients of its inputs go.
#[derive(Debug)]
pub struct PoolingGradient<'a, F> {
    /// N * colours * width, of the layer.
    pub tower: &'a [F],
    /// N * 2 * width, of the layer.
    pub pooled: &'a [F],
    /// The gradient of `tower`.
    pub d_tower: &'a [F],
    /// The gradient of `pooled`. Colours that share a maximum share its gradient alike.
    pub d_pooled: &'a [F],
    /// The gradient of `rows`.
    pub d_rows: WriteOnly<'a, F>,
    /// The gradient of `shared`.
    pub d_shared: WriteOnly<'a, F>,
}

impl<F: Real> PoolingGradient<'_, F> {
    /// Computes the gradients on at most `num_threads` threads.
    ///
    /// # Errors
    /// [`BufferError`] if the lengths do not fit together.
    pub fn run(
        self,
        simd: InstructionSet,
        size: PoolingSize,
        num_threads: usize,
    ) -> Result<(), BufferError> {
        let PoolingGradient { tower, pooled, d_tower, d_pooled, d_rows, d_shared } = self;
        let count = size.observations(
            &[("tower", tower.len()), ("d_tower", d_tower.len()), ("d_rows", d_rows.len())],
            &[("pooled", pooled.len()), ("d_pooled", d_pooled.len())],
            ("d_shared", d_shared.len()),
        )?;
        if count == 0 || size.tower() == 0 {
            return Ok(());
        }
        let (piece, threads) = size.shares(count, num_threads);
        let (towers, width) = (piece * size.tower(), piece * size.width);
        let results = tower.chunks(towers).zip(pooled.chunks(2 * width));
        let gradients = d_tower.chunks(towers).zip(d_pooled.chunks(2 * width));
        let (d_rows, d_shared) = (d_rows.elements(), d_shared.elements());
        let outputs = d_rows.chunks_mut(towers).zip(d_shared.chunks_mut(width));
        let pieces = results.zip(gradients).zip(outputs);
        for_each_piece(pieces, &mut vec![(); threads], |(), (results, outputs)| {
            let (((tower, pooled), (d_tower, d_pooled)), (d_rows, d_shared)) = (results, outputs);
            simd.run(Gradients { size, tower, pooled, d_tower, d_pooled, d_rows, d_shared });
            true
        });
        Ok(())
    }
}

/// The arrays of [`PoolingGradient`] for whole observations.
struct Gradients<'a, F> {
    size: PoolingSize,
    tower: &'a [F],
    pooled: &'a [F],
    d_tower: &'a [F],
    d_pooled: &'a [F],
    d_rows: &'a mut [MaybeUninit<F>],
    d_shared: &'a mut [MaybeUninit<F>],
}

impl<I, F: Real> Task<I> for Gradients<'_, F> {
    #[inline(always)]
    fn run(self, _: I) {
        let Gradients { size, tower, pooled, d_tower, d_pooled, d_rows, d_shared } = self;
        let PoolingSize { colors, width } = size;
        let (mut largest, mut count) = (vec![0.0f32; width], vec![0.0f32; width]);
        let (mut d_mean, mut d_largest) = (vec![0.0f32; width], vec![0.0f32; width]);
        let mut sum = vec![0.0f32; width];
        let results = tower.chunks_exact(colors * width).zip(pooled.chunks_exact(2 * width));
        let gradients = d_tower.chunks_exact(colors * width).zip(d_pooled.chunks_exact(2 * width));
        let outputs = d_rows.chunks_exact_mut(colors * width).zip(d_shared.chunks_exact_mut(width));
        for (((tower, pooled), (d_tower, d_pooled)), (d_rows, d_shared)) in
            results.zip(gradients).zip(outputs)
        {
            for (to, number) in largest.iter_mut().zip(&pooled[width..]) {
                *to = number.widened();
            }
            count.fill(0.0);
            for tower in tower.chunks_exact(width) {
                for unit in 0..width {
                    count[unit] += f32::from(u8::from(tower[unit].widened() == largest[unit]));
                }
            }
            for unit in 0..width {
                d_mean[unit] = d_pooled[unit].widened() / colors as f32;
                d_largest[unit] = d_pooled[width + unit].widened() / count[unit];
            }
            sum.fill(0.0);
            let towers = tower.chunks_exact(width).zip(d_tower.chunks_exact(width));
            for ((tower, d_tower), d_row) in towers.zip(d_rows.chunks_exact_mut(width)) {
                for unit in 0..width {
                    let number = tower[unit].widened();
                    let of_largest = if number == largest[unit] { d_largest[unit] } else { 0.0 };
                    let gradient = d_tower[unit].widened() + d_mean[unit] + of_largest;
                    let gradient = if number > 0.0 { gradient } else { 0.0 };
                    d_row[unit].write(F::nearest(gradient));
                    sum[unit] += gradient;
                }
            }
            for (to, &sum) in d_shared.iter_mut().zip(&sum) {
                to.write(F::nearest(sum));
            }
        }
    }
}
