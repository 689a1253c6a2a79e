//! One possible own hand with its weight, and the bots of all seats as they are with that hand.

use crate::bots::Seats;
use crate::rules::{
    GameRng, MAX_HAND_SIZE, Move, Position, SeenGame, SupposedCards, Variant, View,
};

/// A possible own hand, and what the teammates then think.
#[derive(Clone)]
pub(super) struct Particle {
    pub hand: [u8; MAX_HAND_SIZE],
    pub weight: f64,
    /// How likely the teammates' moves are with this hand: 1 if the blueprint makes all of them, and
    /// less for each that it does not make.
    pub likelihood: f64,
    /// The bots of all seats, if the blueprint has some. That of the observer's own seat is not
    /// used.
    pub bots: Seats,
}

/// Starts the bots of all seats in a supposed game.
pub(super) fn start(bots: &mut Seats, game: &SeenGame, cards: &SupposedCards) {
    let position = game.supposed_position(0, cards);
    let view = View::new(game.variant(), &position, game.observer());
    bots.start(view, |_| GameRng::for_samples(0));
}

/// Whether these cards explain a turn of a game that one seat saw: whether the seat that moved would have
/// moved so. The bots of the other seats observe the turn.
pub(super) fn explains(
    bots: &mut Seats,
    game: &SeenGame,
    turn: usize,
    cards: &SupposedCards,
) -> bool {
    let (variant, observer) = (game.variant(), game.observer());
    let before = game.supposed_position(turn, cards);
    let after = game.supposed_position(turn + 1, cards);
    let (seat, played) = (before.current_player, game.history()[turn].played);
    let agrees = seat == observer || act(bots, variant, &before) == played;
    let [before, after] = [&before, &after].map(|at| View::new(variant, at, observer));
    bots.tell(before, after, Some(observer));
    agrees
}

/// The move of the bot that is to act.
pub(super) fn act(bots: &mut Seats, variant: &Variant, position: &Position) -> Move {
    let seat = position.current_player;
    let bot = bots.bot(seat).expect("a bot plays each seat");
    bot.act(&View::new(variant, position, seat))
}
