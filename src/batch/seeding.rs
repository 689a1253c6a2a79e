//! Seeds of a batch and of its games.

use crate::rules::{Chance, EpisodeSeed, GameChance};

/// Seeds for a reset.
#[derive(Clone, Copy, Debug)]
pub enum Seeds<'a> {
    /// Go on with each game's next episode.
    Continue,
    /// Seed the batch: game `i` is game `i` of this seed.
    Batch(u64),
    /// Seed each game by itself: game `i` is game 0 of the `i`-th seed.
    Each(&'a [u64]),
}

/// Which episode a game is in, with what the random numbers of all its episodes come from: a deal
/// in a step would wait for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct GameSeed {
    seed: EpisodeSeed,
    chance: GameChance,
}

impl GameSeed {
    pub const fn episode(self) -> EpisodeSeed {
        self.seed
    }

    /// Goes on to the game's next episode, and returns its random numbers.
    #[inline(always)]
    pub fn advance(&mut self) -> Chance {
        self.seed = self.seed.next();
        self.chance.episode(self.seed.episode)
    }
}

impl From<EpisodeSeed> for GameSeed {
    fn from(seed: EpisodeSeed) -> GameSeed {
        GameSeed { seed, chance: GameChance::new(seed.seed, seed.game) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_advance_brings_the_numbers_of_the_next_episode() {
        for (seed, game) in [(0, 0), (7, 1), (u64::MAX, u64::MAX / 3)] {
            let mut game_seed = GameSeed::from(EpisodeSeed { seed, game, episode: 4 });
            for episode in 5..8 {
                let expected = EpisodeSeed { seed, game, episode };
                assert_eq!(game_seed.advance(), Chance::new(expected));
                assert_eq!(game_seed.episode(), expected);
            }
        }
    }
}
