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
    /// Crowning piece: a card without which the perfect score is out of reach was discarded.
    IndispensableCardLost,
    /// Every player had a last turn after the deck ran out.
    DeckExhausted,
    /// Crowning piece: the player to act has neither a card nor an information token to use.
    NoLegalAction,
}

impl Ending {
    /// All endings, in the order in which they take precedence.
    pub const ALL: [Ending; 5] = [
        Ending::Lost,
        Ending::Perfect,
        Ending::IndispensableCardLost,
        Ending::DeckExhausted,
        Ending::NoLegalAction,
    ];

    /// Whether the game counts as lost, so that the variant's `lost_game_score` applies.
    #[must_use]
    pub const fn is_defeat(self) -> bool {
        !matches!(self, Ending::Perfect | Ending::DeckExhausted)
    }

    /// The name that Python sees, such as `"deck_exhausted"`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Ending::Lost => "lost",
            Ending::Perfect => "perfect",
            Ending::IndispensableCardLost => "indispensable_card_lost",
            Ending::DeckExhausted => "deck_exhausted",
            Ending::NoLegalAction => "no_legal_action",
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
