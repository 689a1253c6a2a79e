//! The number of ways to fill slots with distinct copies of cards.
//!
//! Inclusion–exclusion over the partitions of the slots: the slots of a block share one copy. A
//! block contributes the number of copies that fit all its slots times the Möbius function of set
//! partitions, [`SHARING`], so that only choices of distinct copies remain. The sum needs only, for
//! each set of slots, the number of copies that fit all of them.

use crate::rules::limits::MAX_HAND_SIZE;

/// Number of sets of slots.
const SLOT_SETS: usize = 1 << MAX_HAND_SIZE;

/// A number for each set of slots. The set is the index: bit `i` stands for slot `i`.
///
/// No partial sum exceeds 64 * 65 * ... * 69 < 2^37, the sum of the absolute terms for six slots
/// that each of 64 copies fits. So no sum overflows, and each is exact as a double as well.
type BySlots = [i64; SLOT_SETS];

/// The factor of each set of slots that shares a copy: `(-1)^(n-1) (n-1)!` for n slots.
const SHARING: BySlots = {
    let factor = [0, 1, -1, 2, -6, 24, -120];
    let mut sharing = [0; SLOT_SETS];
    let mut set = 0;
    while set < SLOT_SETS {
        sharing[set] = factor[set.count_ones() as usize];
        set += 1;
    }
    sharing
};

/// The available copies, in the form that counting needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct AvailableCopies {
    /// For each set of slots, the number of copies that fit all of them, times [`SHARING`].
    terms: BySlots,
}

impl AvailableCopies {
    /// The copies of kinds of cards, each with the set of slots that it fits and its number of
    /// copies.
    pub(super) fn new(kinds: impl Iterator<Item = (u8, u8)>, slots: usize) -> AvailableCopies {
        let mut terms = [0; SLOT_SETS];
        for (fits, copies) in kinds {
            terms[usize::from(fits)] += i64::from(copies);
        }
        for slot in 0..slots {
            for pair in terms[..1 << slots].chunks_exact_mut(2 << slot) {
                let (without, with) = pair.split_at_mut(1 << slot);
                without.iter_mut().zip(with).for_each(|(sum, term)| *sum += *term);
            }
        }
        terms.iter_mut().zip(&SHARING).for_each(|(term, sharing)| *term *= sharing);
        AvailableCopies { terms }
    }

    /// Removes a copy that fits these slots. From now on only the first `slots` slots count.
    pub(super) fn remove(&mut self, fits: u8, slots: usize) {
        let fits = usize::from(fits) & ((1 << slots) - 1);
        let mut set = fits;
        while set != 0 {
            self.terms[set] -= SHARING[set];
            set = (set - 1) & fits;
        }
    }

    /// Counts the ways to fill the first slots.
    pub(super) fn count(&self, slots: usize) -> WayCounts {
        let ways = self.ways(slots);
        let all = (1 << slots) - 1;
        let mut with_copy = [0; SLOT_SETS];
        for set in 0..=all {
            with_copy[set] = SHARING[set] * ways[all ^ set];
        }
        for slot in 0..slots {
            for pair in with_copy[..=all].chunks_exact_mut(2 << slot) {
                let (without, with) = pair.split_at_mut(1 << slot);
                with.iter_mut().zip(without).for_each(|(sum, term)| *sum += *term);
            }
        }
        WayCounts { total: ways[all] as u64, with_copy, all: all as u8 }
    }

    /// The number of ways to fill each set of the first slots. The highest slot of a set shares its
    /// copy with some of the others; the ways to fill the rest are already computed.
    fn ways(&self, slots: usize) -> BySlots {
        let mut ways = [0; SLOT_SETS];
        ways[0] = 1;
        for slot in 0..slots {
            let (known, next) = ways.split_at_mut(1 << slot);
            let terms = &self.terms[1 << slot..2 << slot];
            convolve(terms, known, &mut next[..1 << slot]);
        }
        ways
    }
}

/// Subset convolution: adds, for each set of slots, the terms of its subsets times the ways of
/// their complements in it. It divides by the last slot, which is in the subset or in the
/// complement.
fn convolve(terms: &[i64], ways: &[i64], sums: &mut [i64]) {
    match (terms, ways, &mut *sums) {
        (&[t0], &[w0], [s0]) => *s0 += t0 * w0,
        (&[t0, t1], &[w0, w1], [s0, s1]) => {
            *s0 += t0 * w0;
            *s1 += t0 * w1 + t1 * w0;
        }
        (&[t0, t1, t2, t3], &[w0, w1, w2, w3], [s0, s1, s2, s3]) => {
            *s0 += t0 * w0;
            *s1 += t0 * w1 + t1 * w0;
            *s2 += t0 * w2 + t2 * w0;
            *s3 += t0 * w3 + t1 * w2 + t2 * w1 + t3 * w0;
        }
        _ => {
            let half = terms.len() / 2;
            let ((low_terms, high_terms), (low_ways, high_ways)) =
                (terms.split_at(half), ways.split_at(half));
            let (low_sums, high_sums) = sums.split_at_mut(half);
            convolve(low_terms, low_ways, low_sums);
            convolve(low_terms, high_ways, high_sums);
            convolve(high_terms, low_ways, high_sums);
        }
    }
}

/// The number of ways to fill the first slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct WayCounts {
    /// All of them.
    pub(super) total: u64,
    /// The ways in which one copy lies in any slot, by the set of slots that the copy fits.
    with_copy: BySlots,
    /// The set of the slots that are filled.
    all: u8,
}

impl WayCounts {
    /// The number of ways in which a copy that fits the slots `fits` lies in the slot `slot`: the ways
    /// that would be lost if the copy did not fit it. There must be such a copy.
    pub(super) fn with_copy_in(&self, slot: usize, fits: u8) -> u64 {
        let fits = usize::from(fits & self.all);
        (self.with_copy[fits] - self.with_copy[fits & !(1 << slot)]) as u64
    }
}
