//! Pooling and its gradient are compared with their definitions, on every instruction set.

use half::bf16;

use super::gradient::PoolingGradient;
use super::*;

const SIZE: PoolingSize = PoolingSize { colors: 5, width: 37 };

/// Numbers that differ, some of them negative and some equal between colours.
fn numbers<F: Real>(count: usize, factor: usize) -> Vec<F> {
    (0..count).map(|index| F::nearest((index * factor % 23) as f32 / 8.0 - 1.25)).collect()
}

/// The layer and its gradient on an instruction set: tower, pooled, and the gradients of both
/// inputs.
fn run<F: Real>(
    simd: InstructionSet,
    size: PoolingSize,
    count: usize,
    threads: usize,
) -> [Vec<f32>; 4] {
    let (towers, width) = (count * size.tower(), count * size.width);
    let (rows, shared) = (numbers::<F>(towers, 7), numbers::<F>(width, 5));
    let (d_tower, d_pooled) = (numbers::<F>(towers, 3), numbers::<F>(2 * width, 11));
    let [mut tower, mut d_rows] = [(); 2].map(|()| vec![F::nearest(9.0); towers]);
    let (mut pooled, mut d_shared) =
        (vec![F::nearest(9.0); 2 * width], vec![F::nearest(9.0); width]);
    let layer = Pooling {
        rows: &rows,
        shared: &shared,
        tower: WriteOnly::new(&mut tower),
        pooled: WriteOnly::new(&mut pooled),
    };
    layer.run(simd, size, threads).unwrap();
    let gradient = PoolingGradient {
        tower: &tower,
        pooled: &pooled,
        d_tower: &d_tower,
        d_pooled: &d_pooled,
        d_rows: WriteOnly::new(&mut d_rows),
        d_shared: WriteOnly::new(&mut d_shared),
    };
    gradient.run(simd, size, threads).unwrap();
    [tower, pooled, d_rows, d_shared]
        .map(|found| found.into_iter().map(Real::widened).collect::<Vec<f32>>())
}

/// The same by the definition, in float64, for one unit of one observation.
fn defined(rows: &[f64], shared: f64, d_tower: &[f64], [d_mean, d_largest]: [f64; 2]) -> Vec<f64> {
    let tower: Vec<f64> = rows.iter().map(|row| (row + shared).max(0.0)).collect();
    let largest = tower.iter().copied().fold(0.0, f64::max);
    let mean = tower.iter().sum::<f64>() / tower.len() as f64;
    let alike = tower.iter().filter(|&&number| number == largest).count() as f64;
    let d_rows: Vec<f64> = tower
        .iter()
        .zip(d_tower)
        .map(|(&number, d_tower)| {
            let of_largest = if number == largest { d_largest / alike } else { 0.0 };
            let found = d_tower + d_mean / tower.len() as f64 + of_largest;
            if number > 0.0 { found } else { 0.0 }
        })
        .collect();
    let d_shared = d_rows.iter().sum();
    [tower, vec![mean, largest], d_rows, vec![d_shared]].concat()
}

#[test]
fn the_layer_and_its_gradient_are_as_defined() {
    let (count, PoolingSize { colors, width }) = (3, SIZE);
    let [rows, d_tower] = [7, 3].map(|factor| numbers::<f32>(count * SIZE.tower(), factor));
    let (shared, d_pooled) =
        (numbers::<f32>(count * width, 5), numbers::<f32>(2 * count * width, 11));
    for simd in InstructionSet::available() {
        let [tower, pooled, d_rows, d_shared] = run::<f32>(simd, SIZE, count, 1);
        for (game, unit) in (0..count).flat_map(|game| (0..width).map(move |unit| (game, unit))) {
            let places = (0..colors).map(|color| (game * colors + color) * width + unit);
            let column =
                |of: &[f32]| places.clone().map(|at| f64::from(of[at])).collect::<Vec<_>>();
            let both =
                |of: &[f32]| [0, width].map(|half| f64::from(of[2 * game * width + half + unit]));
            let at = game * width + unit;
            let expected =
                defined(&column(&rows), f64::from(shared[at]), &column(&d_tower), both(&d_pooled));
            let found = [column(&tower), both(&pooled).to_vec(), column(&d_rows)].concat();
            for (found, expected) in found.iter().chain([&f64::from(d_shared[at])]).zip(&expected) {
                assert!((found - expected).abs() < 1e-5, "{simd}: {found}, expected {expected}");
            }
        }
    }
}

#[test]
fn all_instruction_sets_and_threads_give_the_same_bits() {
    let size = PoolingSize { colors: 5, width: 96 };
    let count = 2 * ELEMENTS_PER_THREAD / size.tower() + 3;
    let expected = run::<bf16>(InstructionSet::PORTABLE, size, count, 1);
    for simd in InstructionSet::available() {
        for threads in [1, 3] {
            assert!(run::<bf16>(simd, size, count, threads) == expected, "{simd}");
        }
    }
}

#[test]
fn bfloat16_is_rounded_to_even_and_nan_stays() {
    for bits in (0..=u32::MAX).step_by(32_749) {
        let number = f32::from_bits(bits);
        let (own, expected) = (<bf16 as Real>::nearest(number), bf16::from_f32(number));
        if number.is_nan() {
            continue;
        }
        assert_eq!(own.to_bits(), expected.to_bits(), "{number}");
        assert_eq!(own.widened().to_bits(), own.to_f32().to_bits());
    }
    let mut tower = [bf16::ONE; 2];
    let mut pooled = [bf16::ONE; 2];
    let layer = Pooling {
        rows: &[bf16::NAN, bf16::ONE],
        shared: &[bf16::ZERO],
        tower: WriteOnly::new(&mut tower),
        pooled: WriteOnly::new(&mut pooled),
    };
    layer.run(InstructionSet::PORTABLE, PoolingSize { colors: 2, width: 1 }, 1).unwrap();
    assert!(tower[0].is_nan() && pooled[0].is_nan());
}

#[test]
fn wrong_lengths_are_refused() {
    let size = PoolingSize { colors: 2, width: 3 };
    for (rows, shared, tower, pooled) in
        [(5, 3, 6, 6), (6, 4, 6, 6), (6, 3, 7, 6), (6, 3, 6, 5), (12, 3, 6, 6)]
    {
        let (mut of_tower, mut of_pooled) = (vec![0.0; tower], vec![0.0; pooled]);
        let layer = Pooling {
            rows: &vec![0.0f32; rows],
            shared: &vec![0.0; shared],
            tower: WriteOnly::new(&mut of_tower),
            pooled: WriteOnly::new(&mut of_pooled),
        };
        assert!(
            layer.run(InstructionSet::PORTABLE, size, 1).is_err(),
            "{rows} {shared} {tower} {pooled}"
        );
    }
    let nothing = Pooling::<f32> {
        rows: &[],
        shared: &[],
        tower: WriteOnly::new(&mut []),
        pooled: WriteOnly::new(&mut []),
    };
    nothing.run(InstructionSet::PORTABLE, size, 4).unwrap();
}
