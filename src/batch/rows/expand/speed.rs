//! How long a row takes on each instruction set:
//! `cargo test --release --lib expand::speed -- --ignored --nocapture`

use std::any::type_name;
use std::hint::black_box;
use std::time::Instant;

use super::tests::{Routine, routines};
use super::*;

const ROUNDS: usize = 9;
const ROWS_A_ROUND: usize = 200_000;

/// The median over the rounds, in nanoseconds a row.
fn measure<E: Element>(routine: Routine<E>, rows: usize, length: usize) -> f64 {
    let words: Vec<u64> = (1..=length.div_ceil(64) as u64)
        .map(|index| index.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .collect();
    let mut out: Vec<E> = Vec::with_capacity(rows * length);
    let repeats = (ROWS_A_ROUND / rows).max(1);
    let round = || {
        let start = Instant::now();
        for row in (0..rows).cycle().take(rows * repeats) {
            // SAFETY: the rows lie inside the memory that was asked for.
            unsafe { routine.1(black_box(&words), out.as_mut_ptr().add(row * length), length) };
        }
        fence();
        start.elapsed().as_nanos() as f64 / (rows * repeats) as f64
    };
    let mut rounds: Vec<f64> = std::iter::repeat_with(round).take(ROUNDS).collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}

fn measure_all<E: Element>(lengths: &[usize]) {
    for rows in [1024, 65_536] {
        for &length in lengths {
            for routine in routines::<E>() {
                let median = measure(routine, rows, length);
                let element = type_name::<E>();
                println!(
                    "{element:16} {length:5} bits {rows:6} rows {:16} {median:7.1} ns",
                    routine.0
                );
            }
        }
    }
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    measure_all::<f32>(&[658, 1280]);
    measure_all::<f16>(&[658, 1280]);
    measure_all::<u8>(&[658, 1280]);
    measure_all::<bool>(&[20, 48]);
}
