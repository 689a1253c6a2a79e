//! Hints mean something: a player who keeps count of what everybody knows.

mod hints;
mod kinds;
mod memory;
mod seat;
#[cfg(test)]
mod tests;

use self::memory::Memory;
use self::seat::Seat;
use super::bot::{Bot, Turn};
use crate::rules::{GameRng, Move, View};

/// After SmartBot of `Quuxplusone/Hanabi` (2013), whose moves it makes. Plays the base game.
///
/// Three conventions, on top of what hints and open cards say:
/// - A hint which does not make any card known to be playable says that the newest card it points
///   out, of those that may be playable, is.
/// - A rank hint that points out the card which the next player means to discard says that it is
///   critical. No such hint says that it is not.
/// - Who discards a card that it knows to be playable says that another player's newest card is
///   the same.
///
/// When turns contradict what was inferred, because somebody does not keep to the conventions, it
/// forgets everything but the hints.
#[derive(Clone, Debug)]
pub struct Smart {
    memory: Memory,
}

impl Smart {
    /// A bot that waits for its first game.
    #[must_use]
    pub const fn new() -> Smart {
        Smart { memory: Memory::blank() }
    }
}

impl Default for Smart {
    fn default() -> Smart {
        Smart::new()
    }
}

impl Bot for Smart {
    fn start(&mut self, view: &View<'_>, _: GameRng) {
        self.memory = Memory::of_hints(view);
    }

    fn observe(&mut self, turn: &Turn<'_>) {
        self.memory.observe(turn);
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        Seat::new(&self.memory, view).choose()
    }
}
