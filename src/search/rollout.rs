use super::particle::Seats;
use crate::bots::Bot;
use crate::rules::{Move, Position, RandomDeck, Variant, View};

/// Where roll-outs start.
pub(super) struct Start<'a> {
    pub variant: &'a Variant,
    pub position: &'a Position,
    pub deck: &'a RandomDeck,
    /// The teammates' bots.
    pub bots: &'a Seats,
    /// The seat that searches, and its own bot.
    pub observer: usize,
    pub own: &'a dyn Bot,
}

/// A game that is played to its end by bots in all seats.
pub(super) struct Rollout {
    bots: Seats,
}

impl Rollout {
    pub fn new(bots: &Seats) -> Rollout {
        Rollout { bots: bots.clone() }
    }

    /// The score of the game that goes on with this move.
    pub fn play(&mut self, start: &Start<'_>, first: Move) -> u8 {
        let variant = start.variant;
        for (seat, bot) in self.bots.0.iter_mut().enumerate() {
            let state = if seat == start.observer { start.own } else { &*start.bots.0[seat] };
            state.clone_onto(bot);
        }
        let (mut after, mut deck, mut played) = (*start.position, start.deck.clone(), first);
        loop {
            let before = after;
            debug_assert!(before.is_legal(variant, played), "{played:?}");
            let event = after.apply_unchecked(variant, played, &mut deck);
            if after.ending().is_some() {
                return after.score(variant);
            }
            self.bots.observe(variant, &before, &event, &after, None);
            let seat = after.current_player();
            played = self.bots.0[seat].act(&View::new(variant, &after, seat));
        }
    }
}
