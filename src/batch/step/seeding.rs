//! Seeds of a batch and of its games.

use crate::rules::{EpisodeSeed, mix_seed};

/// Seeds for a reset.
#[derive(Clone, Copy, Debug)]
pub enum Seeds<'a> {
    /// Deal each game's next episode. The exception is a new batch, before its first step or reset: it
    /// keeps the episodes that it has dealt.
    Continue,
    /// Seed the batch: game `i` becomes game `i` of this seed.
    Batch(u64),
    /// Seed each game on its own: game `i` becomes game 0 of the `i`-th seed.
    Each(&'a [u64]),
}

/// The episode that a game is in, and the part of mixing its seed that all its episodes share: a
/// deal in a step does not repeat it.
#[derive(Clone, Copy, Debug)]
pub(in crate::batch) struct GameSeed {
    seed: EpisodeSeed,
    mixed: u64,
}

impl GameSeed {
    /// The episode that the game is in.
    pub const fn episode(self) -> EpisodeSeed {
        self.seed
    }

    /// Moves on to the game's next episode, and returns the first state of its random number
    /// generator.
    #[inline(always)]
    pub fn advance(&mut self) -> u64 {
        self.seed = self.seed.next();
        mix_seed(self.mixed, self.seed.episode)
    }
}

impl From<EpisodeSeed> for GameSeed {
    fn from(seed: EpisodeSeed) -> GameSeed {
        GameSeed { seed, mixed: mix_seed(mix_seed(0, seed.seed), seed.game) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::GameRng;

    #[test]
    fn an_advance_returns_the_generator_of_the_next_episode() {
        for (seed, game) in [(0, 0), (7, 1), (u64::MAX, u64::MAX / 3)] {
            let mut game_seed = GameSeed::from(EpisodeSeed { seed, game, episode: 4 });
            for episode in 5..8 {
                let expected = EpisodeSeed { seed, game, episode };
                assert_eq!(game_seed.advance(), GameRng::for_deal(expected).state());
                assert_eq!(game_seed.episode(), expected);
            }
        }
    }
}
