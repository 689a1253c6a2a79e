//! One game after another among players.

use std::collections::TryReserveError;
use std::fmt;
use std::sync::Arc;

use super::player::{BotMoveError, GamesError, Player, check_players};
use super::seats::Seats;
use super::turn_values::TurnValues;
use crate::bots::policy::PolicyBot;
use crate::rules::{
    Ending, EpisodeSeed, Event, GameRng, Move, MoveError, RandomDeck, RandomGame, Recording, Seat,
    SeerView, State, Variant, View,
};
use crate::threads::is_stopped;

/// Upper bound of a game's turns: each costs a card or a token, and a card returns at most two
/// tokens.
const MAX_TURNS: usize = 256;

/// How far bots play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BotTurns {
    /// Until an external player is to act or the game is over.
    UntilExternal,
    /// One turn, so that the caller sees every position.
    One,
}

/// The result of one game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// The score by the variant's rules.
    pub score: u8,
    /// The sum of the fireworks' heights, of a lost game too.
    pub fireworks: u8,
    /// Number of turns.
    pub length: usize,
    /// How it ended.
    pub ending: Ending,
}

/// Runs games among players, one after another.
#[derive(Clone)]
pub struct GameRunner {
    variant: Arc<Variant>,
    seats: Seats,
    game: RandomGame,
    seed: EpisodeSeed,
    history: Vec<Event>,
    /// What the bots found out about the legal moves, if any bot values them.
    values: Option<TurnValues>,
}

impl fmt::Debug for GameRunner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("GameRunner")
            .field("seed", &self.seed)
            .field("position", &self.game.position)
            .finish_non_exhaustive()
    }
}

impl GameRunner {
    /// A runner with one player for each seat, at the start of the game of this seed.
    ///
    /// # Errors
    /// [`GamesError`] if there are more or fewer players than seats, or if a bot does not support the
    /// variant.
    pub fn new(
        variant: impl Into<Arc<Variant>>,
        players: Vec<Player>,
        seed: EpisodeSeed,
    ) -> Result<GameRunner, GamesError> {
        let variant = variant.into();
        check_players(&variant, &players)?;
        let game = RandomGame::deal(&variant, seed);
        let values_moves =
            |player: &Player| matches!(player, Player::Bot(bot) if bot.values().is_some());
        let values = players.iter().any(values_moves).then(TurnValues::default);
        let history = Vec::with_capacity(MAX_TURNS);
        let seats = Seats::new(players);
        let mut runner = GameRunner { variant, seats, game, seed, history, values };
        runner.start_players();
        Ok(runner)
    }

    /// Deals the game of this seed and starts the bots.
    pub fn start(&mut self, seed: EpisodeSeed) {
        self.game = RandomGame::deal(&self.variant, seed);
        self.seed = seed;
        self.history.clear();
        self.values.iter_mut().for_each(TurnValues::clear);
        self.start_players();
    }

    fn start_players(&mut self) {
        let view = View::new(&self.variant, &self.game.position, Seat::FIRST).with_history(&[]);
        self.seats.start(view, |seat| GameRng::for_seat(self.seed, seat));
    }

    /// The variant.
    #[must_use]
    pub const fn variant(&self) -> &Arc<Variant> {
        &self.variant
    }

    /// The seat to act. After the end: the seat that would have been next.
    #[must_use]
    pub const fn current_player(&self) -> Seat {
        self.game.position.current_player
    }

    /// What this seat may see, the past turns included.
    ///
    /// # Panics
    /// If the variant has no such seat.
    #[must_use]
    pub fn view(&self, observer: Seat) -> View<'_> {
        View::new(&self.variant, &self.game.position, observer).with_history(&self.history)
    }

    /// What this seat would see if its own cards were open too, without the past turns.
    ///
    /// # Panics
    /// If the variant has no such seat.
    #[must_use]
    pub fn seer_view(&self, observer: Seat) -> SeerView<'_> {
        SeerView::new(&self.variant, &self.game.position, observer)
    }

    /// The game as it stands, without its turns.
    pub(crate) const fn game(&self) -> &RandomGame {
        &self.game
    }

    /// The seed of the current game.
    #[must_use]
    pub const fn seed(&self) -> EpisodeSeed {
        self.seed
    }

    /// Number of turns played so far.
    #[must_use]
    pub const fn length(&self) -> usize {
        self.history.len()
    }

    /// The turns played so far, the oldest first.
    #[must_use]
    pub fn history(&self) -> &[Event] {
        &self.history
    }

    /// The game as it stands, with its turns.
    #[must_use]
    pub fn state(&self) -> State {
        let mut state = State::new(self.variant.clone(), self.seed);
        for event in &self.history {
            state.play_unchecked(event.played);
        }
        state
    }

    /// Adds the game as it stands to recorded games of the same variant.
    pub(crate) fn record(&self, recording: &mut Recording) -> Result<(), TryReserveError> {
        let variant = &self.variant;
        let (mut deck, start_player) = RandomDeck::new(variant, self.seed);
        let cards = std::iter::from_fn(|| deck.draw(variant));
        recording.push_game(cards, start_player, &self.history)
    }

    /// What the bots found out about the legal moves, see [`Bot::values`]. `None` if no bot values them.
    pub(super) const fn values(&self) -> Option<&TurnValues> {
        self.values.as_ref()
    }

    /// The ending, or `None` before the end of the game.
    #[must_use]
    pub const fn ending(&self) -> Option<Ending> {
        self.game.position.ending
    }

    /// The outcome of the game, or `None` before its end.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        Some(Outcome {
            score: self.game.position.score(&self.variant),
            fireworks: self.game.position.fireworks_sum(),
            length: self.length(),
            ending: self.ending()?,
        })
    }

    /// Lets the bots play until the game ends or an external player is to act.
    ///
    /// # Errors
    /// [`BotMoveError`] if a bot chose an illegal move, which is not applied.
    pub fn run(&mut self) -> Result<(), BotMoveError> {
        while self.play_bot()? {}
        Ok(())
    }

    /// The turns of external players so far, the oldest first.
    pub(crate) fn external_turns(&self) -> impl Iterator<Item = &Event> {
        let players = self.seats.players();
        let is_external = |event: &&Event| matches!(players[event.seat.index()], Player::External);
        self.history.iter().filter(is_external)
    }

    /// Whether a bot is to act.
    pub(crate) fn waits_for_bot(&self) -> bool {
        let player = &self.seats.players()[self.game.position.current_player.index()];
        self.ending().is_none() && !matches!(player, Player::External)
    }

    /// Whether a seat has a policy.
    pub(super) const fn has_policy(&self) -> bool {
        self.seats.have_policies()
    }

    /// The policy that is to act, with its view; `None` if another player is, or if the game has ended.
    pub(super) fn policy_to_act(&mut self) -> Option<(&mut PolicyBot, View<'_>)> {
        if self.ending().is_some() {
            return None;
        }
        let seat = self.game.position.current_player;
        let bot = self.seats.policy(seat)?;
        let view = View::new(&self.variant, &self.game.position, seat);
        Some((bot, view.with_history(&self.history)))
    }

    /// Lets the other bots play up to the turn of a policy, but no further than `turns` allow. Returns whether
    /// a policy is to act.
    pub(super) fn run_to_policy(&mut self, turns: BotTurns) -> Result<bool, BotMoveError> {
        if !self.has_policy() && turns == BotTurns::UntilExternal {
            return self.run().map(|()| false);
        }
        while self.policy_to_act().is_none() {
            if !self.play_bot()? || turns == BotTurns::One {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Plays one turn if a bot is to act, and returns whether one was.
    ///
    /// # Errors
    /// [`BotMoveError`] if the bot chose an illegal move, which is not applied.
    #[inline(always)]
    pub fn play_bot(&mut self) -> Result<bool, BotMoveError> {
        if self.ending().is_some() || is_stopped() {
            return Ok(false);
        }
        let GameRunner { variant, game: RandomGame { position, .. }, history, seats, .. } = self;
        let seat = position.current_player;
        let view = View::new(variant, position, seat).with_history(history);
        let Some(played) = seats.player(seat).choose(&view, position) else { return Ok(false) };
        BotMoveError::check(&view, played)?;
        self.play_unchecked(played);
        Ok(true)
    }

    /// Plays a move of the seat to act, informs the bots, and returns what happened.
    ///
    /// # Errors
    /// [`MoveError`] if the game is over or the move is not legal. Nothing has changed then.
    #[expect(clippy::missing_panics_doc, reason = "the turn was played")]
    pub fn play(&mut self, played: Move) -> Result<Event, MoveError> {
        self.game.position.check_move(&self.variant, played)?;
        self.play_unchecked(played);
        Ok(*self.history.last().expect("a turn was played"))
    }

    /// As [`GameRunner::play`], for a move that is legal.
    #[inline(always)]
    pub(crate) fn play_unchecked(&mut self, played: Move) {
        if self.values.is_some() {
            self.keep_values();
        }
        if self.seats.is_observed() {
            self.apply_and_tell(played);
        } else {
            self.apply(played);
        }
    }

    /// Keeps what the bot to act found out about its moves.
    #[inline(never)]
    fn keep_values(&mut self) {
        let found = match &self.seats.players()[self.game.position.current_player.index()] {
            Player::Bot(bot) => bot.values().unwrap_or_default(),
            _ => &[],
        };
        self.values.iter_mut().for_each(|values| values.push(&self.variant, found));
    }

    #[inline]
    fn apply(&mut self, played: Move) {
        self.history.push(self.game.play_unchecked(&self.variant, played));
    }

    /// Plays a move and tells the bots of it.
    #[inline(never)]
    fn apply_and_tell(&mut self, played: Move) {
        let before = self.game.position;
        self.apply(played);
        let GameRunner { variant, game: RandomGame { position, .. }, history, seats, .. } = self;
        let (_, earlier) = history.split_last().expect("a turn was played");
        let before = View::new(variant, &before, Seat::FIRST).with_history(earlier);
        let after = View::new(variant, position, Seat::FIRST).with_history(history);
        seats.tell(before, after, None);
    }

    /// Ends the game as lost, with no life tokens left, as a batch does after an illegal action if its
    /// options say so. [`GameRunner::state`] and recorded games do not know of it: they have the
    /// turns that were played.
    pub fn forfeit(&mut self) {
        self.game.position.forfeit();
    }
}
