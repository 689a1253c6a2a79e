//! The random number generator of one game, whose numbers are the same in every release.

use std::fmt;

use crate::rules::game::episode_seed::EpisodeSeed;
use crate::rules::limits::MAX_PLAYERS;
use crate::rules::small_index::Seat;

/// The increment of the generator: the stream that PCG's reference implementation uses by default.
pub(crate) const INCREMENT: u64 = 1_442_695_040_888_963_407;

/// The factor by which a draw multiplies the generator's state.
pub(crate) const MULTIPLIER: u64 = 6_364_136_223_846_793_005;

/// The random number generator of one game: PCG-XSH-RR 64/32 (O'Neill, "PCG: A Family of Simple
/// Fast Space-Efficient Statistically Good Algorithms for Random Number Generation", 2014) on its
/// default stream.
///
/// The same seed deals the same game in every release, and a bot that draws from its generator plays
/// the same games. The batch's kernel draws the same numbers for eight games at once. A generator
/// hides its state: with the state of a seat's generator, one could compute the seed and so the deck.
#[derive(Clone)]
pub struct GameRng {
    state: u64,
}

/// What a generator is for, besides the deal of its episode.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RngPurpose {
    /// The moves of the player in a seat.
    Moves(Seat),
    /// Which of its partners holds a seat.
    Partner(Seat),
    /// The hidden cards of a world.
    World,
}

impl fmt::Debug for GameRng {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("GameRng").finish_non_exhaustive()
    }
}

impl GameRng {
    /// The generator that deals an episode's cards. Whoever draws from it knows the deck.
    #[must_use]
    pub(crate) fn for_deal(seed: EpisodeSeed) -> GameRng {
        GameRng::from_state(episode_state(seed))
    }

    /// The generator of the player in a seat, independent of the deal's and of the other seats'.
    #[must_use]
    pub fn for_seat(seed: EpisodeSeed, seat: Seat) -> GameRng {
        GameRng::for_purpose(seed, RngPurpose::Moves(seat))
    }

    /// The generator of an episode for this purpose, independent of the deal's and of those for other
    /// purposes.
    pub(crate) fn for_purpose(seed: EpisodeSeed, purpose: RngPurpose) -> GameRng {
        let number = match purpose {
            RngPurpose::Moves(seat) => seat.index(),
            RngPurpose::Partner(seat) => MAX_PLAYERS + seat.index(),
            RngPurpose::World => 2 * MAX_PLAYERS + 2,
        };
        GameRng::from_state(mix_seed(mix_seed(episode_state(seed), 0), number as u64))
    }

    /// A generator for other draws, such as those of [`Belief::sample`](crate::rules::Belief::sample),
    /// independent of the deals and the seats of the games with the same seed, so that a sample does
    /// not reveal how its own game was dealt.
    #[must_use]
    pub fn for_samples(seed: u64) -> GameRng {
        let deal = episode_state(EpisodeSeed::new(seed));
        GameRng::from_state(mix_seed(mix_seed(deal, 0), u64::MAX))
    }

    /// A generator for other decisions of the same player, independent of this one's numbers.
    #[must_use]
    pub fn independent(&self) -> GameRng {
        GameRng::from_state(mix_seed(mix_seed(self.state(), 0), u64::MAX))
    }

    /// The generator in this state.
    pub(crate) const fn from_state(state: u64) -> GameRng {
        GameRng { state }
    }

    /// The generator's state, which a batch keeps in its blocks.
    pub(crate) const fn state(&self) -> u64 {
        self.state
    }

    /// The next 32 random bits: 32 bits of the state, rotated by its highest five bits.
    fn next_word(&mut self) -> u32 {
        let state = self.state;
        self.state = state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        let shifted = ((state >> 18 ^ state) >> 27) as u32;
        shifted.rotate_right((state >> 59) as u32)
    }

    /// A number below `bound`: the high half of a 64-bit product. Its bias is below
    /// `bound` / 2^32. For a `bound` of 0 it is 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.next_word()) * u64::from(bound)) >> 32) as u32
    }

    /// An item of a list, drawn as by [`below`](GameRng::below); `None` for an empty list.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len() as u32) as usize)
    }

    /// A number below `bound`, which is not 0, without bias (Lemire, "Fast random integer
    /// generation in an interval", 2019). A draw is repeated with a probability below
    /// `bound` / 2^64.
    pub fn below_u64(&mut self, bound: u64) -> u64 {
        loop {
            let word = u64::from(self.next_word()) << 32 | u64::from(self.next_word());
            let product = u128::from(word) * u128::from(bound);
            let remainder = product as u64;
            if remainder >= bound || remainder >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// A number from 0 to below 1, a multiple of 2^-53.
    pub fn fraction(&mut self) -> f64 {
        self.below_u64(1 << 53) as f64 / (1u64 << 53) as f64
    }
}

/// The index of the weight that contains a ticket, which is drawn below the sum of the weights.
/// `None` if it is not below the sum.
pub(crate) fn ticket_index(
    weights: impl IntoIterator<Item = u64>,
    mut ticket: u64,
) -> Option<usize> {
    weights.into_iter().position(|weight| {
        let wins = ticket < weight;
        ticket = ticket.wrapping_sub(weight);
        wins
    })
}

/// The first state of the generator that deals an episode.
fn episode_state(seed: EpisodeSeed) -> u64 {
    [seed.seed, seed.game, seed.episode].into_iter().fold(0, mix_seed)
}

/// Mixes one more word into a seed, with SplitMix64's finalizer (Steele, Lea and Flood, "Fast
/// splittable pseudorandom number generators", 2014): a bijection that spreads every input bit
/// over the whole word.
pub(crate) const fn mix_seed(mixed: u64, word: u64) -> u64 {
    let word = (mixed ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
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
    fn the_words_are_those_of_the_crate() {
        for state in [0, 1, u64::MAX / 3, u64::MAX] {
            let mut expected = Pcg32::new(state, INCREMENT >> 1);
            let start = state.wrapping_add(INCREMENT);
            let mut rng = GameRng::from_state(start);
            assert_eq!(rng.state(), start);
            // The constructor of the crate has taken a step.
            rng.next_word();
            for _ in 0..100 {
                assert_eq!(rng.next_word(), expected.next_u32());
            }
        }
    }

    /// Games are promised to stay the same: these numbers may never change.
    #[test]
    fn the_numbers_of_a_seed_are_fixed() {
        let seed = EpisodeSeed { seed: 7, game: 3, episode: 2 };
        let numbers = |mut rng: GameRng| -> [u32; 8] { std::array::from_fn(|_| rng.below(50)) };
        assert_eq!(numbers(GameRng::for_deal(seed)), [3, 40, 19, 34, 24, 16, 40, 20]);
        assert_eq!(
            numbers(GameRng::for_seat(seed, Seat::ALL[1])),
            [17, 42, 19, 35, 26, 18, 40, 22]
        );
        assert_eq!(numbers(GameRng::for_samples(7)), [39, 38, 7, 49, 7, 45, 24, 25]);
        assert_eq!(GameRng::for_deal(seed).below_u64(u64::MAX), 1_473_666_156_772_908_211);
    }

    #[test]
    fn numbers_below_a_large_bound_are_not_biased() {
        // Without repeated draws, every third number would get two of four words, the others one.
        let (mut rng, mut hits) = (GameRng::for_samples(0), [0; 3]);
        for _ in 0..30_000 {
            let number = rng.below_u64(3 << 62);
            assert!(number < 3 << 62);
            hits[(number % 3) as usize] += 1;
        }
        assert!(hits.iter().all(|hits| (9_500..10_500).contains(hits)), "{hits:?}");
    }

    #[test]
    fn a_generator_hides_its_state() {
        let shown = [0, 1].map(|state| format!("{:?}", GameRng::from_state(state)));
        assert_eq!(shown, ["GameRng { .. }", "GameRng { .. }"]);
    }

    #[test]
    fn samples_have_a_generator_of_their_own() {
        for seed in [0, 1, u64::MAX] {
            let episode = EpisodeSeed::new(seed);
            let samples = GameRng::for_samples(seed);
            assert_ne!(samples.state(), GameRng::for_deal(episode).state());
            let seats = Seat::ALL.map(|seat| GameRng::for_seat(episode, seat).state());
            assert!(!seats.contains(&samples.state()));
        }
    }
}
