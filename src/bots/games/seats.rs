//! How bots are shown a game: who is told what, in which order. All games of bots go through here.

use super::player::Player;
use crate::bots::bot::{Bot, Turn};
use crate::rules::{Event, GameRng, Seat, State, View};

/// The players of all seats of a game.
#[derive(Clone)]
pub(crate) struct Seats {
    players: Vec<Player>,
    /// The seats whose bots need [`Bot::observe`], one bit each.
    observing: u8,
}

impl Seats {
    /// One player for each seat.
    pub fn new(players: Vec<Player>) -> Seats {
        let observes = |player: &Player| matches!(player, Player::Bot(bot) if bot.observes());
        let bits = players.iter().enumerate().map(|(seat, it)| u8::from(observes(it)) << seat);
        Seats { observing: bits.sum(), players }
    }

    /// The players by seat.
    pub fn players(&self) -> &[Player] {
        &self.players
    }

    /// The player of a seat.
    #[inline]
    pub fn player(&mut self, seat: Seat) -> &mut Player {
        &mut self.players[seat.index()]
    }

    /// The bot in a seat, if one is.
    #[inline]
    pub fn bot(&mut self, seat: Seat) -> Option<&mut Box<dyn Bot>> {
        match self.player(seat) {
            Player::Bot(bot) => Some(bot),
            Player::Cheater | Player::External => None,
        }
    }

    /// Tells the bots that a game starts, of which any seat has this view.
    pub fn start(&mut self, view: View<'_>, rng: impl Fn(Seat) -> GameRng) {
        for seat in view.variant().seats() {
            if let Some(bot) = self.bot(seat) {
                bot.start(&view.of_seat(seat), rng(seat));
            }
        }
    }

    /// Whether a bot needs [`Seats::tell`].
    #[inline]
    pub const fn is_observed(&self) -> bool {
        self.observing != 0
    }

    /// Tells the bots of a turn, before and after which any seat has these views. The bot in the seat
    /// `except` is not told.
    #[inline]
    pub fn tell(&mut self, before: View<'_>, event: &Event, after: View<'_>, except: Option<Seat>) {
        for (seat, player) in before.variant().seats().zip(&mut self.players) {
            let is_told = self.observing >> seat.index() & 1 == 1 && Some(seat) != except;
            if let Player::Bot(bot) = player
                && is_told
            {
                bot.observe(&Turn {
                    before: before.of_seat(seat),
                    event: event.seen_by(seat),
                    after: after.of_seat(seat),
                });
            }
        }
    }
}

/// Shows the rest of a game to the bot in one seat. `state` is the game as far as the bot knows it,
/// `history` all its turns. In the turns of the seat `own_turn` takes the place of [`Bot::act`].
pub(crate) fn follow<B: Bot>(
    bot: &mut B,
    seat: Seat,
    state: &mut State,
    history: &[Event],
    mut own_turn: impl FnMut(&mut B, &View<'_>),
) {
    let variant = state.variant().clone();
    for turn in state.length()..history.len() {
        let before = *state.position();
        let before = View::new(&variant, &before, seat).with_history(&history[..turn]);
        if before.current_player() == seat {
            own_turn(bot, &before);
        }
        state.play_unchecked(history[turn].played);
        bot.observe(&Turn::between(before, state.view(seat)));
    }
}
