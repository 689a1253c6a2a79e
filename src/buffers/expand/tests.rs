//! Each routine that this processor can run is compared with the bits one by one.

use super::*;
use crate::buffers::{InstructionSet, Task};
use crate::rules::GameRng;

/// An instruction set, and whether the stores are streaming.
type Routine = (InstructionSet, bool);

/// A row to be written.
struct Row<'a, E> {
    words: &'a [u64],
    to: *mut E,
    length: usize,
    streams: bool,
}

impl<I: Expand, E: Element> Task<I> for Row<'_, E> {
    #[inline(always)]
    fn run(self, isa: I) {
        let Row { words, to, length, streams } = self;
        // SAFETY: the row lies inside the memory of `check`, aligned as the offset is.
        unsafe {
            if streams {
                expand::<I, E, true>(isa, words, to, length);
            } else {
                expand::<I, E, false>(isa, words, to, length);
            }
        }
    }
}

fn routines() -> impl Iterator<Item = Routine> {
    let both = |simd| [(simd, false), (simd, true)];
    // Miri has no streaming stores.
    InstructionSet::available().flat_map(both).filter(|(_, streams)| !(cfg!(miri) && *streams))
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
fn check<E: Element>((simd, streams): Routine, words: &[u64], length: usize, offset: usize) {
    let size = size_of::<E>();
    let (before, bytes) = (64 + offset, length * size);
    let mut memory = vec![Line { _bytes: [CANARY; 64] }; (before + bytes).div_ceil(64) + 1];
    let mut expected = vec![CANARY; 64 * memory.len()];
    for bit in 0..length {
        let one = if words[bit / 64] >> (bit % 64) & 1 == 1 { E::ONE } else { 0 };
        expected[before + bit * size..][..size].copy_from_slice(&one.to_le_bytes()[..size]);
    }
    let found = memory.as_mut_ptr().cast::<u8>();
    let to = found.wrapping_add(before).cast::<E>();
    simd.run(Row { words, to, length, streams });
    // SAFETY: all of the memory is bytes.
    let found = unsafe { std::slice::from_raw_parts(found, expected.len()) };
    assert!(
        found == expected,
        "{simd}, streams: {streams}, size {size}, length {length}, offset {offset}"
    );
}

fn check_all<E: Element>() {
    // Miri is slow.
    let (step, stride) = if cfg!(miri) { (29, 20) } else { (1, size_of::<E>()) };
    let long = [512, 657, 658, 659, 720, 1023, 1279, 1280, 1281];
    for routine in routines() {
        for length in (0..=200).chain(long).step_by(step) {
            let words = words(length);
            for offset in (0..64).step_by(stride) {
                check::<E>(routine, &words, length, offset);
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
