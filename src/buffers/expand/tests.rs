//! Each routine that this processor can run is compared with the bits one by one.

use super::*;
use crate::buffers::Simd;
use crate::rules::GameRng;

pub(super) type Routine<E> = (&'static str, unsafe fn(&[u64], *mut E, usize));

macro_rules! compiled_for {
    ($name:ident, $expander:ident $(, $features:literal)?) => {
        $(#[target_feature(enable = $features)])?
        unsafe fn $name<E: Element, const STREAM: bool>(
            words: &[u64],
            row: *mut E,
            length: usize,
        ) {
            // SAFETY: as the caller promises.
            unsafe { expand::<$expander, E, STREAM>(words, row, length) }
        }
    };
}

compiled_for!(on_portable, PortableExpander);
#[cfg(target_arch = "x86_64")]
compiled_for!(on_avx2, Avx2Expander, "avx2,bmi1,bmi2,lzcnt,popcnt");
#[cfg(target_arch = "x86_64")]
compiled_for!(
    on_avx512,
    Avx512Expander,
    "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
);

pub(super) fn routines<E: Element>() -> Vec<Routine<E>> {
    let mut routines: Vec<Routine<E>> =
        vec![("portable", on_portable::<E, false>), ("portable, stream", on_portable::<E, true>)];
    #[cfg(target_arch = "x86_64")]
    if Simd::Avx2.is_available() {
        routines.push(("avx2", on_avx2::<E, false>));
        routines.push(("avx2, stream", on_avx2::<E, true>));
    }
    #[cfg(target_arch = "x86_64")]
    if Simd::Avx512.is_available() {
        routines.push(("avx512", on_avx512::<E, false>));
        routines.push(("avx512, stream", on_avx512::<E, true>));
    }
    if cfg!(miri) {
        // Miri has no streaming stores.
        routines.retain(|(name, _)| !name.contains("stream"));
    }
    routines
}

/// Pseudo-random words.
fn words(length: usize) -> Vec<u64> {
    let mut rng = GameRng::for_samples(length as u64);
    (0..length.div_ceil(64)).map(|_| rng.below_u64(u64::MAX)).collect()
}

/// A cache line.
#[repr(align(64))]
#[derive(Clone)]
struct Line {
    _bytes: [u8; 64],
}

const CANARY: u8 = 0xa5;

/// Checks a row that begins `offset` bytes after the start of a cache line, and the bytes around
/// it.
fn check<E: Element>(routine: Routine<E>, words: &[u64], length: usize, offset: usize) {
    let size = size_of::<E>();
    let (before, bytes) = (64 + offset, length * size);
    let mut memory = vec![Line { _bytes: [CANARY; 64] }; (before + bytes).div_ceil(64) + 1];
    let mut expected = vec![CANARY; 64 * memory.len()];
    for bit in 0..length {
        let one = if words[bit / 64] >> (bit % 64) & 1 == 1 { E::ONE } else { 0 };
        expected[before + bit * size..][..size].copy_from_slice(&one.to_le_bytes()[..size]);
    }
    let found = memory.as_mut_ptr().cast::<u8>();
    // SAFETY: the row lies inside the memory, aligned as the offset is.
    unsafe { routine.1(words, found.add(before).cast(), length) };
    // SAFETY: all of the memory is bytes.
    let found = unsafe { std::slice::from_raw_parts(found, expected.len()) };
    assert!(found == expected, "{}, size {size}, length {length}, offset {offset}", routine.0);
}

fn check_all<E: Element>() {
    // Miri is slow.
    let (step, stride) = if cfg!(miri) { (29, 20) } else { (1, size_of::<E>()) };
    let long = [512, 657, 658, 659, 720, 1023, 1279, 1280, 1281];
    for routine in routines::<E>() {
        for length in (0..=200).chain(long).step_by(step) {
            let words = words(length);
            for offset in (0..64).step_by(stride) {
                check(routine, &words, length, offset);
            }
        }
    }
}

#[test]
fn floats_are_their_bits() {
    check_all::<f32>();
}

#[test]
fn halves_are_their_bits() {
    check_all::<f16>();
    check_all::<bf16>();
}

#[test]
fn bytes_are_their_bits() {
    check_all::<u8>();
    check_all::<bool>();
}

#[test]
#[cfg_attr(miri, ignore)]
fn a_fence_ends_a_stream() {
    fence();
}
