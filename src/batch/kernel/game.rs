use serde::{Deserialize, Serialize};

use crate::rules::{ActionSet, EpisodeSeed, Position, PositionError, RandomDeck, Variant};

/// One game of a batch by itself, as it is stored and as it is dealt outside of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Game {
    pub position: Position,
    pub deck: RandomDeck,
    pub seed: EpisodeSeed,
    /// Turns played.
    pub length: u8,
}

impl Game {
    /// Deals the game of this seed.
    pub fn new(variant: &Variant, seed: EpisodeSeed) -> Game {
        let (mut deck, start_player) = RandomDeck::new(variant, seed);
        let position = Position::deal(variant, start_player, &mut deck);
        Game { position, deck, seed, length: 0 }
    }

    /// The legal actions.
    pub fn legal(&self, variant: &Variant) -> ActionSet {
        self.position.legal_actions(variant)
    }

    /// Checks what a stored game claims.
    pub fn validate(&self, variant: &Variant) -> Result<(), PositionError> {
        self.deck.validate()?;
        self.position.validate(variant, self.deck.left())
    }
}
