//! A game that is played to its end from a sampled hand and deck.

use super::particle::act;
use crate::bots::{Bot, Player, Seats};
use crate::rules::{Move, RandomGame, Seat, Variant, View};

/// Where a roll-out starts.
pub(super) struct Start<'a> {
    pub game: &'a RandomGame,
    /// The first move.
    pub first: Move,
    /// The teammates' bots, if the blueprint has some.
    pub bots: &'a Seats,
    /// The seat that searches, and its own bot.
    pub observer: Seat,
    pub own: &'a dyn Bot,
}

/// Plays a move of a roll-out.
///
/// # Panics
/// If the move is not legal.
pub(super) fn apply(game: &mut RandomGame, variant: &Variant, played: Move) {
    assert!(game.position.is_legal(variant, played), "the blueprint's {played:?} is not legal");
    game.play_unchecked(variant, played);
}

/// The score of a game that these bots play to its end, from the states of the bots at its start.
pub(super) fn play(bots: &mut Seats, variant: &Variant, start: &Start<'_>) -> u8 {
    for (seat, player) in variant.seats().zip(start.bots.players()) {
        let bot = bots.bot(seat).expect("a bot plays each seat");
        match player {
            Player::Bot(state) if seat != start.observer => state.clone_onto(bot),
            _ => start.own.clone_onto(bot),
        }
    }
    let (mut game, mut played) = (start.game.clone(), start.first);
    loop {
        let before = game.position;
        apply(&mut game, variant, played);
        let after = &game.position;
        if after.ending.is_some() {
            return after.score(variant);
        }
        let view = |position| View::new(variant, position, start.observer);
        bots.tell(view(&before), view(after), None);
        played = act(bots, variant, after);
    }
}
