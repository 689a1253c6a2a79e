//! How bots are shown a game: who is told what, in which order. All games of bots go through here.

use std::any::Any;

use super::player::Player;
use crate::bots::bot::{Bot, Turn};
use crate::bots::policy::PolicyBot;
use crate::rules::{Event, GameRng, Seat, State, View};

/// The players of all seats of a game.
#[derive(Clone)]
pub(crate) struct Seats {
    players: Vec<Player>,
    /// The seats whose bots need [`Bot::observe`], one bit each.
    observing: u8,
    /// The seats that policies hold, one bit each.
    policies: u8,
}

impl Seats {
    /// One player for each seat.
    pub fn new(players: Vec<Player>) -> Seats {
        let observing = seats_of(&players, |bot| bot.observes());
        let policies = seats_of(&players, |bot| (bot as &dyn Any).is::<PolicyBot>());
        Seats { players, observing, policies }
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

    /// Whether policies hold any seats.
    #[inline]
    pub const fn have_policies(&self) -> bool {
        self.policies != 0
    }

    /// The policy in a seat, if one is.
    #[inline]
    pub fn policy(&mut self, seat: Seat) -> Option<&mut PolicyBot> {
        if self.policies >> seat.index() & 1 == 0 {
            return None;
        }
        (&mut **self.bot(seat)? as &mut dyn Any).downcast_mut()
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
    pub fn tell(&mut self, before: View<'_>, after: View<'_>, except: Option<Seat>) {
        for (seat, player) in before.variant().seats().zip(&mut self.players) {
            let is_told = self.observing >> seat.index() & 1 == 1 && Some(seat) != except;
            if let Player::Bot(bot) = player
                && is_told
            {
                bot.observe(&Turn::between(before.of_seat(seat), after.of_seat(seat)));
            }
        }
    }
}

/// The seats with such bots, one bit each.
fn seats_of(players: &[Player], is_such: impl Fn(&dyn Bot) -> bool) -> u8 {
    let has_such = |player: &Player| matches!(player, Player::Bot(bot) if is_such(&**bot));
    players.iter().rev().fold(0, |bits, player| bits << 1 | u8::from(has_such(player)))
}

/// Shows the rest of a game to the bot in one seat. `state` is the game as far as the bot knows it,
/// `history` all its turns. In the turns of the seat `own_turn` takes the place of [`Bot::act`].
pub(crate) fn show_turns<B: Bot + ?Sized>(
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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::rules::{EpisodeSeed, Move, Parameters, Slot, Variant};

    /// What a bot was told: its seat, the number of turns before, and the event; `None` at the start.
    type Told = (Seat, usize, Option<Event>);

    /// Notes what it is told, and in which of its turns it is asked.
    #[derive(Clone)]
    struct Noting {
        told: Arc<Mutex<Vec<Told>>>,
        observes: bool,
    }

    impl Bot for Noting {
        fn start(&mut self, view: &View<'_>, mut rng: GameRng) {
            let mut own = GameRng::for_seat(EpisodeSeed::new(3), view.observer());
            assert_eq!(rng.below(1 << 30), own.below(1 << 30));
            self.told.lock().unwrap().push((view.observer(), 0, None));
        }

        fn observes(&self) -> bool {
            self.observes
        }

        fn observe(&mut self, turn: &Turn<'_>) {
            let [before, after] = [turn.before, turn.after].map(|at| at.history().unwrap().len());
            assert_eq!((turn.before.observer(), before + 1), (turn.after.observer(), after));
            self.told.lock().unwrap().push((turn.after.observer(), before, Some(turn.event)));
        }

        fn act(&mut self, _: &View<'_>) -> Move {
            Move::Play { slot: Slot::OLDEST }
        }
    }

    /// A game of three plays at a table of three seats.
    fn played() -> State {
        let variant = Variant::new(Parameters { players: 3, ..Parameters::default() }).unwrap();
        let mut state = State::new(variant, EpisodeSeed::new(3));
        for _ in 0..3 {
            state.play(Move::Play { slot: Slot::OLDEST }).unwrap();
        }
        state
    }

    #[test]
    fn each_observing_bot_is_told_once_what_its_seat_sees() {
        let (game, told) = (played(), Arc::default());
        let noting = |observes| Player::bot(Noting { told: Arc::clone(&told), observes });
        let mut seats = Seats::new(vec![noting(true), noting(false), noting(true)]);
        assert!(seats.is_observed());
        let mut state = game.dealt();
        let rng = |seat| GameRng::for_seat(EpisodeSeed::new(3), seat);
        seats.start(state.view(Seat::ALL[1]), rng);
        let started = std::mem::take(&mut *told.lock().unwrap());
        assert_eq!(started, [0, 1, 2].map(|seat| (Seat::ALL[seat], 0, None)));
        for (turn, except) in [None, None, Some(Seat::ALL[2])].into_iter().enumerate() {
            let before = state.clone();
            state.play(game.history()[turn].played).unwrap();
            seats.tell(before.view(Seat::FIRST), state.view(Seat::FIRST), except);
        }
        let expected = [(0, 0), (2, 0), (0, 1), (2, 1), (0, 2)].map(|(seat, turn)| {
            let (seat, event) = (Seat::ALL[seat], game.history()[turn]);
            // The seats play in their order, and each draws a card.
            assert_eq!((event.seat.index(), event.drawn.is_some()), (turn, true));
            (seat, turn, Some(Event { drawn: event.drawn.filter(|_| event.seat != seat), ..event }))
        });
        assert_eq!(*told.lock().unwrap(), expected);
        assert!(!Seats::new(vec![noting(false), Player::Cheater, Player::External]).is_observed());
    }

    #[test]
    fn a_bot_is_shown_the_rest_of_a_game_as_at_the_table() {
        let (game, told) = (played(), Arc::default());
        let (mut bot, seat) = (Noting { told: Arc::clone(&told), observes: true }, Seat::ALL[1]);
        let (mut state, mut own) = (game.first_turns(1).unwrap(), Vec::new());
        show_turns(&mut bot, seat, &mut state, game.history(), |_, view| {
            own.push((view.observer(), view.current_player(), view.history().unwrap().len()));
        });
        assert_eq!((state, own), (game.clone(), vec![(seat, seat, 1)]));
        let seen = |turn: usize| (seat, turn, Some(game.history()[turn].seen_by(seat)));
        assert_eq!(*told.lock().unwrap(), [seen(1), seen(2)]);
    }
}
