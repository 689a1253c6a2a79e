use crate::rules::{Chance, EpisodeSeed, Move, View};

use super::bot::Bot;

/// Plays any legal action, each as likely as the others. Plays every variant.
#[derive(Clone, Debug)]
pub struct Random {
    chance: Chance,
}

impl Random {
    /// A bot that waits for its first game.
    #[must_use]
    pub fn new() -> Random {
        Random { chance: Chance::new(EpisodeSeed::default()) }
    }
}

impl Default for Random {
    fn default() -> Random {
        Random::new()
    }
}

impl Bot for Random {
    fn start(&mut self, _: &View<'_>, chance: Chance) {
        self.chance = chance;
    }

    fn observes(&self) -> bool {
        false
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        any_legal(view, &mut self.chance)
    }
}

/// Any legal move, each as likely as the others.
pub(super) fn any_legal(view: &View<'_>, chance: &mut Chance) -> Move {
    let legal = view.legal_actions();
    let chosen = chance.below(legal.len() as u32) as usize;
    let action = legal.iter().nth(chosen).expect("the player to act has a legal action");
    view.variant().action_to_move(action as i64).expect("legal actions are the variant's")
}
