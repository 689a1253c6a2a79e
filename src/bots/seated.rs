//! A bot in one seat of games that somebody else runs.

use std::fmt;

use thiserror::Error;

use super::bot::Turn;
use super::runner::{BotMoveError, Player};
use crate::rules::{Ending, EpisodeSeed, Event, GameRng, Move, State, View};

/// A bot in one seat, which is shown a game as it stands and answers with a move.
///
/// It follows a game from its first turn: it is told of every turn, and asked in those of its seat,
/// whoever has played them. So its answer depends on the game alone, not on how often it was asked.
#[derive(Clone)]
pub struct SeatedPlayer {
    player: Player,
    seat: usize,
    seed: u64,
    followed: Option<Followed>,
}

/// The game that a bot follows, as far as it has been told of it.
#[derive(Clone)]
struct Followed {
    /// The number of games before it.
    game: u64,
    state: State,
    /// What the bot has chosen in the turn that comes next, if it was asked.
    chosen: Option<Move>,
}

/// Why a bot in a seat has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SeatedError {
    /// Another seat is to act.
    #[error("seat {acting} is to act: expected a turn of seat {seat}, which the bot holds")]
    Seat {
        /// The seat to act.
        acting: usize,
        /// The bot's seat.
        seat: usize,
    },
    /// The game is over.
    #[error("the game is over ({0}): expected one that goes on")]
    Over(Ending),
    /// The bot chose an illegal move.
    #[error(transparent)]
    Move(#[from] BotMoveError),
}

impl fmt::Debug for SeatedPlayer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SeatedPlayer")
            .field("seat", &self.seat)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

impl SeatedPlayer {
    /// A player in a seat of its variant. In the k-th game that it is shown, it draws the random
    /// numbers of game k of this seed.
    #[must_use]
    pub const fn new(player: Player, seat: usize, seed: u64) -> SeatedPlayer {
        SeatedPlayer { player, seat, seed, followed: None }
    }

    /// The move in a game of the player's variant.
    ///
    /// # Errors
    /// [`SeatedError`] if the seat is not to act, or if the bot chose an illegal move.
    ///
    /// # Panics
    /// If the player is [`Player::External`].
    pub fn act(&mut self, state: &State) -> Result<Move, SeatedError> {
        if let Some(ending) = state.ending() {
            return Err(SeatedError::Over(ending));
        }
        let acting = state.position().current_player();
        if acting != self.seat {
            return Err(SeatedError::Seat { acting, seat: self.seat });
        }
        let mut followed = self.follow(state);
        for event in &state.history()[followed.state.length()..] {
            self.ask(&mut followed);
            self.tell(&mut followed, event);
        }
        self.ask(&mut followed);
        let played = followed.chosen.expect("it is the seat's turn");
        let is_legal = state.position().is_legal(state.variant(), played);
        self.followed = Some(followed);
        if is_legal {
            return Ok(played);
        }
        let meaning = state.variant().edition().meaning(played);
        Err(BotMoveError { seat: self.seat, turn: state.length(), meaning }.into())
    }

    /// The followed game if the state continues it, or else the start of the state's game.
    fn follow(&mut self, state: &State) -> Followed {
        let last = self.followed.take();
        let game = match last {
            None => 0,
            Some(last) if is_same_deal(&last.state, state) => {
                if state.history().starts_with(last.state.history()) {
                    return last;
                }
                last.game
            }
            Some(last) => match self.same_game_stored(&last.state, state) {
                Some(state) => return Followed { state, ..last },
                None => last.game + 1,
            },
        };
        self.begin(game, state)
    }

    /// The state at the time of an earlier one, if both are of one game and one of them was stored as this seat sees
    /// it: then it has other cards where the seat sees none.
    fn same_game_stored(&self, earlier: &State, state: &State) -> Option<State> {
        let is_stored = |state: &State| state.as_seen_by(self.seat) == *state;
        let start = state.first_turns(earlier.length())?;
        let is_same = start.is_seen_alike(earlier, self.seat);
        (is_same && (is_stored(state) || is_stored(earlier))).then_some(start)
    }

    /// The start of the state's game, of which the bot is told as number `game` of those that it is shown.
    fn begin(&mut self, game: u64, state: &State) -> Followed {
        let state = state.first_turns(0).expect("every game has a start");
        if let Player::Bot(bot) = &mut self.player {
            let seed = EpisodeSeed { seed: self.seed, game, episode: 0 };
            bot.start(&state.view(self.seat), GameRng::for_seat(seed, self.seat));
        }
        Followed { game, state, chosen: None }
    }

    /// The seed of the bot's random numbers.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// The game that the bot follows, as far as it has been told of it, and the number of games before it.
    #[must_use]
    pub fn followed(&self) -> Option<(u64, &State)> {
        self.followed.as_ref().map(|followed| (followed.game, &followed.state))
    }

    /// Follows a game of the player's variant up to its last turn, after this number of other games.
    pub fn resume(&mut self, game: u64, state: &State) {
        let mut followed = self.begin(game, state);
        for event in state.history() {
            self.ask(&mut followed);
            self.tell(&mut followed, event);
        }
        self.followed = Some(followed);
    }

    /// Asks the bot for the next turn if it is its seat's and it was not asked before.
    fn ask(&mut self, followed: &mut Followed) {
        let state = &followed.state;
        if followed.chosen.is_some() || state.position().current_player() != self.seat {
            return;
        }
        followed.chosen = Some(match &mut self.player {
            Player::Bot(bot) => bot.act(&state.view(self.seat)),
            Player::Open(bot) => bot.act(state.variant(), state.position()),
            Player::External => panic!("an external player has no moves"),
        });
    }

    /// Tells the bot of a turn.
    fn tell(&mut self, followed: &mut Followed, event: &Event) {
        let (seat, state) = (self.seat, &mut followed.state);
        let before = *state.position();
        let action = state.variant().move_to_action(event.played);
        state.apply(action.expect("a played move has an action") as i64).expect("it was legal");
        followed.chosen = None;
        if let Player::Bot(bot) = &mut self.player {
            let variant = state.variant();
            let (event, earlier) = state.history().split_last().expect("a turn was played");
            bot.observe(&Turn {
                before: View::new(variant, &before, seat).with_history(earlier),
                event: event.seen_by(seat),
                after: state.view(seat),
            });
        }
    }
}

fn is_same_deal(one: &State, other: &State) -> bool {
    one.deck() == other.deck() && one.start_player() == other.start_player()
}
