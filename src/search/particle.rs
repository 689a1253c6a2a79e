//! One possible own hand with its weight, and the bots of all seats as they are with that hand.

use crate::bots::{Bot, Turn};
use crate::rules::{
    Event, GameRng, MAX_HAND_SIZE, Position, Seat, SeenGame, SupposedCards, SupposedTurn, Variant,
    View,
};

/// A bot for each seat.
#[derive(Clone)]
pub(super) struct Seats(pub Vec<Box<dyn Bot>>);

impl Seats {
    /// Starts the bots of all seats.
    pub fn start(&mut self, variant: &Variant, position: &Position) {
        for (seat, bot) in variant.seats().zip(&mut self.0) {
            bot.start(&View::new(variant, position, seat), GameRng::for_samples(0));
        }
    }

    /// Plays one turn of a game that one seat saw: whether the seat that moved would have moved so
    /// if these were the observer's cards.
    pub fn follow(&mut self, game: &SeenGame, turn: usize, cards: &SupposedCards) -> bool {
        let (variant, observer) = (game.variant(), game.observer());
        let SupposedTurn { before, event, after } = game.supposed_turn(turn, cards);
        let seat = event.seat;
        let agrees = seat == observer
            || self.0[seat.index()].act(&View::new(variant, &before, seat)) == event.played;
        self.observe(variant, &before, &event, &after, Some(observer));
        agrees
    }

    /// Tells all bots but one of a turn.
    pub fn observe(
        &mut self,
        variant: &Variant,
        before: &Position,
        event: &Event,
        after: &Position,
        except: Option<Seat>,
    ) {
        for (seat, bot) in variant.seats().zip(&mut self.0) {
            if Some(seat) != except && bot.observes() {
                bot.observe(&Turn {
                    before: View::new(variant, before, seat),
                    event: event.seen_by(seat),
                    after: View::new(variant, after, seat),
                });
            }
        }
    }
}

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
