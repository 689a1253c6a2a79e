//! `random`: any legal move, each as likely as the others.

use crate::rules::{GameRng, Move, View};

use super::bot::Bot;

/// Plays uniformly random legal moves. Supports every variant.
#[derive(Clone, Debug)]
pub struct Random {
    rng: GameRng,
}

impl Default for Random {
    fn default() -> Random {
        Random { rng: GameRng::for_samples(0) }
    }
}

impl Bot for Random {
    fn start(&mut self, _: &View<'_>, rng: GameRng) {
        self.rng = rng;
    }

    fn observes(&self) -> bool {
        false
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        any_legal(view, &mut self.rng)
    }
}

/// A uniformly random legal move.
pub(super) fn any_legal(view: &View<'_>, rng: &mut GameRng) -> Move {
    let legal = view.legal_actions();
    let chosen = rng.below(legal.len() as u32) as usize;
    let action = legal.iter().nth(chosen).expect("the player to act has a legal action");
    view.variant().action_to_move(action).expect("legal actions are the variant's")
}
