//! The numbers from which all random numbers of an episode follow.

use serde::{Deserialize, Serialize};

/// Identifies one episode: of game `game` in a batch seeded with `seed`. These three numbers and
/// the variant determine all its random numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EpisodeSeed {
    /// The batch's seed.
    pub seed: u64,
    /// The game's index in the batch.
    pub game: u64,
    /// The number of earlier episodes of this game, finished or abandoned.
    pub episode: u64,
}

impl EpisodeSeed {
    /// Game 0 of a batch with this seed, in its first episode.
    #[must_use]
    pub const fn new(seed: u64) -> EpisodeSeed {
        EpisodeSeed { seed, game: 0, episode: 0 }
    }

    /// The same game's next episode.
    #[must_use]
    pub const fn next(self) -> EpisodeSeed {
        EpisodeSeed { episode: self.episode.wrapping_add(1), ..self }
    }
}
