//! A game that is played to its end from a sampled hand and deck.

use super::particle::Seats;
use crate::bots::Bot;
use crate::rules::{Event, Move, Position, RandomDeck, Seat, Variant, View};

/// Where a roll-out starts.
pub(super) struct Start<'a> {
    pub position: &'a Position,
    pub deck: &'a RandomDeck,
    /// The first move.
    pub first: Move,
    /// The teammates' bots, if the blueprint has some.
    pub bots: &'a Seats,
    /// The seat that searches, and its own bot.
    pub observer: Seat,
    pub own: &'a dyn Bot,
}

/// A game that is played to its end.
pub(super) struct Rollout {
    pub position: Position,
    deck: RandomDeck,
}

impl Rollout {
    pub fn new(start: &Start<'_>) -> Rollout {
        Rollout { position: *start.position, deck: start.deck.clone() }
    }

    /// Plays a move.
    ///
    /// # Panics
    /// If the move is not legal.
    pub fn apply(&mut self, variant: &Variant, played: Move) -> Event {
        assert!(self.position.is_legal(variant, played), "the blueprint's {played:?} is not legal");
        self.position.apply_unchecked(variant, played, &mut self.deck)
    }
}

impl Seats {
    /// The score of a game that these bots play to its end, from the states of the bots at its
    /// start.
    pub fn play(&mut self, variant: &Variant, start: &Start<'_>) -> u8 {
        for ((seat, bot), state) in variant.seats().zip(&mut self.0).zip(&start.bots.0) {
            let state = if seat == start.observer { start.own } else { &**state };
            state.clone_onto(bot);
        }
        let (mut game, mut played) = (Rollout::new(start), start.first);
        loop {
            let before = game.position;
            let event = game.apply(variant, played);
            let after = &game.position;
            if after.ending.is_some() {
                return after.score(variant);
            }
            self.observe(variant, &before, &event, after, None);
            let seat = after.current_player;
            played = self.0[seat.index()].act(&View::new(variant, after, seat));
        }
    }
}
