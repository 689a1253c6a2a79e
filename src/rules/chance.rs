use serde::{Deserialize, Serialize};

use super::deck::EpisodeSeed;

/// The random numbers of one game: PCG-XSH-RR 64/32 (O'Neill, "PCG: A Family of Simple Fast
/// Space-Efficient Statistically Good Algorithms for Random Number Generation", 2014), the
/// random crate's `Pcg32` on its author's stream.
///
/// It is written out here because a batch draws for eight games at once, and because games are
/// promised to be the same for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chance(pub(crate) u64);

impl Chance {
    /// The factor of a step.
    pub(crate) const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
    /// What a step adds.
    pub(crate) const INCREMENT: u64 = 1_442_695_040_888_963_407;

    /// The numbers that deal an episode's cards.
    #[must_use]
    pub fn new(seed: EpisodeSeed) -> Chance {
        GameChance::new(seed.seed, seed.game).episode(seed.episode)
    }

    /// The numbers of whoever plays a seat in an episode, which are others than those of the
    /// cards and of the other seats.
    #[must_use]
    pub fn of_seat(seed: EpisodeSeed, seat: usize) -> Chance {
        let cards = Chance::new(seed);
        Chance(spread(spread(cards.0) ^ seat as u64))
    }

    /// The numbers of samples, which are others than those of the cards and of the seats of the
    /// games of the same seed: a sample would otherwise tell how its own game was dealt.
    #[must_use]
    pub fn of_samples(seed: u64) -> Chance {
        let cards = Chance::new(EpisodeSeed { seed, ..EpisodeSeed::default() });
        Chance(spread(spread(cards.0) ^ u64::MAX))
    }

    /// The factor and the summand that a state takes so many steps further with.
    pub(crate) const fn steps(count: usize) -> (u64, u64) {
        let (mut factor, mut summand, mut step) = (1, 0, 0);
        while step < count {
            factor = Chance::MULTIPLIER.wrapping_mul(factor);
            summand = Chance::MULTIPLIER.wrapping_mul(summand).wrapping_add(Chance::INCREMENT);
            step += 1;
        }
        (factor, summand)
    }

    fn next_u32(&mut self) -> u32 {
        let state = self.0;
        self.0 = state.wrapping_mul(Chance::MULTIPLIER).wrapping_add(Chance::INCREMENT);
        let shifted = ((state >> 18 ^ state) >> 27) as u32;
        shifted.rotate_right((state >> 59) as u32)
    }

    /// A number below `bound`, which is at most 64: the high half of a 64-bit product, so that
    /// the mapping is the same everywhere. Its bias is below 2^-26.
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.next_u32()) * u64::from(bound)) >> 32) as u32
    }

    /// A number below `bound`, which is not 0, without bias (Lemire, "Fast random integer
    /// generation in an interval", 2019). It draws anew, with a probability below `bound` / 2^64,
    /// when the first draw belongs to the values that some numbers would have more of.
    pub fn below_u64(&mut self, bound: u64) -> u64 {
        loop {
            let word = u64::from(self.next_u32()) << 32 | u64::from(self.next_u32());
            let product = u128::from(word) * u128::from(bound);
            let remainder = product as u64;
            if remainder >= bound || remainder >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }
}

/// What the random numbers of all episodes of a game come from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GameChance(u64);

impl GameChance {
    /// That of a game of a batch of this seed.
    #[must_use]
    pub fn new(seed: u64, game: u64) -> GameChance {
        GameChance(spread(spread(seed) ^ game))
    }

    /// The numbers that deal an episode's cards.
    #[must_use]
    pub fn episode(self, episode: u64) -> Chance {
        Chance(spread(self.0 ^ episode))
    }
}

/// SplitMix64's finalizer (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014): a bijection that spreads every input bit over the whole word.
fn spread(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

#[cfg(test)]
mod tests {
    use rand::Rng;
    use rand_pcg::Pcg32;

    use super::*;

    #[test]
    fn the_numbers_are_those_of_pcg32() {
        for seed in [0, 1, u64::MAX / 3, u64::MAX] {
            let mut theirs = Pcg32::new(seed, Chance::INCREMENT >> 1);
            let mut ours = Chance(seed);
            // Their constructor adds the increment and steps once before the first number.
            ours.0 = ours.0.wrapping_add(Chance::INCREMENT);
            ours.next_u32();
            for _ in 0..100 {
                assert_eq!(ours.next_u32(), theirs.next_u32());
            }
        }
    }

    #[test]
    fn many_steps_are_one_product_and_one_sum() {
        let mut chance = Chance(u64::MAX / 3);
        let start = chance.0;
        for count in 0..100 {
            let (factor, summand) = Chance::steps(count);
            assert_eq!(chance.0, start.wrapping_mul(factor).wrapping_add(summand));
            chance.next_u32();
        }
    }

    #[test]
    fn numbers_below_a_great_bound_are_not_biased() {
        // Without drawing anew, every third number would have two of four words, the others one.
        let (mut chance, mut hits) = (Chance::of_samples(0), [0; 3]);
        for _ in 0..30_000 {
            let number = chance.below_u64(3 << 62);
            assert!(number < 3 << 62);
            hits[(number % 3) as usize] += 1;
        }
        assert!(hits.iter().all(|hits| (9_500..10_500).contains(hits)), "{hits:?}");
    }

    #[test]
    fn samples_have_numbers_of_their_own() {
        for seed in [0, 1, u64::MAX] {
            let episode = EpisodeSeed { seed, ..EpisodeSeed::default() };
            let samples = Chance::of_samples(seed);
            assert_ne!(samples, Chance::new(episode));
            assert!((0..5).all(|seat| samples != Chance::of_seat(episode, seat)));
        }
    }
}
