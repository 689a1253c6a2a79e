//! How games end.

use crate::rules::names::named;

named!("ending",
    /// How a game ended. The endings are in the order in which they take precedence.
    Ending {
        /// The last life token was lost.
        Lost = "lost",
        /// All fireworks are complete.
        Perfect = "perfect",
        /// Crowning piece: a card without which the perfect score is out of reach was discarded.
        IndispensableCardLost = "indispensable_card_lost",
        /// Every player had a last turn after the deck ran out.
        DeckExhausted = "deck_exhausted",
        /// Crowning piece: the player to act has neither a card nor an information token to use.
        NoLegalAction = "no_legal_action",
    }
);

impl Ending {
    /// Whether the game counts as lost, so that the variant's `lost_game_score` applies.
    #[must_use]
    pub const fn is_defeat(self) -> bool {
        !matches!(self, Ending::Perfect | Ending::DeckExhausted)
    }

    /// The number of the ending in arrays, from 1: 0 is a game in progress.
    #[must_use]
    pub const fn code(self) -> i8 {
        self as i8 + 1
    }

    /// The ending with this [`code`](Ending::code); `None` for 0, a game in progress, and for any
    /// other number.
    #[must_use]
    pub fn from_code(code: i8) -> Option<Ending> {
        Ending::ALL.iter().copied().find(|ending| ending.code() == code)
    }
}
