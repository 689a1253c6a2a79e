use serde::{Deserialize, Serialize};

use super::Shared;
use super::options::AutoresetMode;
use crate::rules::{ActionSet, Ending, EpisodeSeed, Position, PositionError, RandomDeck, Variant};

/// One game of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Game {
    position: Position,
    deck: RandomDeck,
    seed: EpisodeSeed,
    length: u32,
    /// The legal actions of the position, kept so that the next step need not find them again.
    legal: ActionSet,
}

/// What a step did to a game, beside the position that it left.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub reward: i16,
    pub terminated: bool,
    pub illegal_action: bool,
    /// Score, length and ending of the game that ended.
    pub last: Option<(u8, u32, Ending)>,
    /// The position in which it ended and the copies left in its deck, where a new game has taken
    /// its place.
    pub replaced: Option<(Position, u64)>,
}

impl Game {
    /// Deals the game of this seed.
    pub fn new(variant: &Variant, seed: EpisodeSeed) -> Game {
        let (mut deck, start_player) = RandomDeck::new(variant, seed);
        let position = Position::deal(variant, start_player, &mut deck);
        let legal = position.legal_actions(variant);
        Game { position, deck, seed, length: 0, legal }
    }

    pub fn position(&self) -> &Position {
        &self.position
    }

    pub fn seed(&self) -> EpisodeSeed {
        self.seed
    }

    pub fn legal(&self) -> ActionSet {
        self.legal
    }

    pub fn is_over(&self) -> bool {
        self.position.ending().is_some()
    }

    pub fn is_legal(&self, action: i64) -> bool {
        usize::try_from(action).is_ok_and(|action| self.legal.contains(action))
    }

    /// Score, length and ending of a game that is over.
    pub fn result(&self, variant: &Variant) -> Option<(u8, u32, Ending)> {
        let ending = self.position.ending()?;
        Some((self.position.score(variant), self.length, ending))
    }

    /// Plays one turn, or deals anew where the mode says so. The caller has refused the illegal
    /// actions that it does not want to end a game.
    pub fn step(&mut self, shared: &Shared, action: i64) -> Outcome {
        let variant = &*shared.variant;
        if self.is_over() {
            *self = Game::new(variant, self.seed.next());
            return Outcome::default();
        }
        let before = i16::from(self.position.score(variant));
        let illegal_action = !self.is_legal(action);
        match variant.action_to_move(action) {
            Ok(played) if !illegal_action => {
                self.position.apply_unchecked(variant, played, &mut self.deck);
            }
            _ => self.position.forfeit(),
        }
        self.length += 1;
        self.legal = self.position.legal_actions(variant);
        let mut outcome = Outcome {
            reward: i16::from(self.position.score(variant)) - before,
            illegal_action,
            ..Outcome::default()
        };
        if self.is_over() {
            outcome.terminated = true;
            outcome.last = self.result(variant);
            if shared.options.autoreset_mode == AutoresetMode::SameStep {
                outcome.replaced = Some((self.position, self.deck.left()));
                *self = Game::new(variant, self.seed.next());
            }
        }
        outcome
    }

    /// Checks what a stored game claims.
    pub fn validate(&self, variant: &Variant) -> Result<(), PositionError> {
        self.deck.validate()?;
        self.position.validate(variant, self.deck.left())?;
        if self.legal == self.position.legal_actions(variant) {
            Ok(())
        } else {
            Err(PositionError("wrong legal actions"))
        }
    }
}
