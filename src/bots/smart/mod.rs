//! `smart`: `SmartBot` of Arthur O'Dwyer's <https://github.com/Quuxplusone/Hanabi> (2013), move for
//! move. [`Smart`] lists its conventions.
//!
//! - `common_knowledge`: what all seats conclude from the turns, and what the observer sees besides
//! - `move_choice`: the choice of a move; `hint_choice`: the best hint to one teammate
//! - `kind_sets`: what a hint leaves possible, and fractions of sets of kinds

mod common_knowledge;
mod hint_choice;
mod kind_sets;
mod move_choice;
#[cfg(test)]
mod tests;

use self::common_knowledge::CommonKnowledge;
use self::move_choice::MoveChoice;
use super::bot::{Bot, Turn};
use super::common::base_game;
use crate::rules::{GameRng, Move, UnsupportedVariantError, Variant, View};

/// A bot whose hints promise a playable card or warn of a critical one. Supports the base game.
///
/// It follows three conventions:
/// - A hint that makes no card known to be playable promises that the newest touched card that may
///   be playable is playable.
/// - A rank hint that touches the next player's next discard warns that this card is critical. The
///   absence of such a hint means that it is not.
/// - The discard of a card that its owner knew to be playable means that the newest card of another
///   player is the same: a finesse.
///
/// If a partner violates a convention and the conclusions become contradictory, the bot drops them
/// and starts again from the hints alone.
#[derive(Clone, Debug, Default)]
pub struct Smart {
    knowledge: CommonKnowledge,
}

impl Bot for Smart {
    fn check_variant(&self, variant: &Variant) -> Result<(), UnsupportedVariantError> {
        base_game::check("smart", variant)
    }

    fn is_deterministic(&self, _: &Variant) -> bool {
        true
    }

    fn start(&mut self, view: &View<'_>, _: GameRng) {
        self.knowledge = CommonKnowledge::of_hints(view);
    }

    fn observe(&mut self, turn: &Turn<'_>) {
        self.knowledge.observe(turn);
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        MoveChoice::new(&self.knowledge, view).choose()
    }
}
