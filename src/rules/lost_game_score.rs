//! The score of a lost game.

use super::names::{Named, named};

named!("lost_game_score", "snake_case",
    /// The score of a lost game.
    #[derive(Default)]
    LostGameScore {
        /// 0, as in HLE.
        #[default]
        Zero,
        /// The sum of the fireworks, as in games that are not lost.
        Fireworks,
    }
);
