use std::fmt;

use serde::{Deserialize, Serialize};

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The last life token was lost.
    Lost,
    /// All fireworks are complete.
    Perfect,
    /// Every player had a last turn after the deck ran out.
    DeckExhausted,
}

impl Ending {
    /// All endings, in the order in which they take precedence.
    pub const ALL: [Ending; 3] = [Ending::Lost, Ending::Perfect, Ending::DeckExhausted];

    /// The name that Python sees, such as `"deck_exhausted"`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Ending::Lost => "lost",
            Ending::Perfect => "perfect",
            Ending::DeckExhausted => "deck_exhausted",
        }
    }

    /// The number that stands for the ending in arrays: 1 for the first of [`Ending::ALL`], as 0
    /// means that the game goes on.
    #[must_use]
    pub const fn code(self) -> i8 {
        self as i8 + 1
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
