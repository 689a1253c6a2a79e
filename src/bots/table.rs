use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use super::bot::{Bot, OpenBot, Turn};
use crate::rules::{
    Ending, EpisodeSeed, Event, GameRng, Move, Position, RandomDeck, Variant, View,
};

/// More turns than any game has: each takes a card or a token, and cards bring back at most two.
const LONGEST: usize = 256;

/// Who sits in a seat.
pub enum Player {
    /// A bot, which sees what its seat may see.
    Bot(Box<dyn Bot>),
    /// One that is shown the open table.
    Open(Box<dyn OpenBot>),
    /// Somebody outside, whose moves are given to [`Table::apply`].
    Outside,
}

impl Clone for Player {
    fn clone(&self) -> Player {
        match self {
            Player::Bot(bot) => Player::Bot(bot.boxed_clone()),
            Player::Open(bot) => Player::Open(bot.boxed_clone()),
            Player::Outside => Player::Outside,
        }
    }
}

/// A bot chose a move that the rules refuse: a mistake in the bot.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the bot in seat {seat} chose {meaning}, which is not legal, in turn {turn}")]
pub struct BotMoveError {
    /// Its seat.
    pub seat: usize,
    /// Turns played before.
    pub turn: usize,
    /// The move in words.
    pub meaning: String,
}

/// A table at which players play one game after another.
#[derive(Clone)]
pub struct Table {
    variant: Arc<Variant>,
    players: Vec<Player>,
    /// Whether any player wants to be told of turns.
    is_observed: bool,
    position: Position,
    deck: RandomDeck,
    seed: EpisodeSeed,
    history: Vec<Event>,
}

impl fmt::Debug for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Table")
            .field("seed", &self.seed)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

impl Table {
    /// A table with a player for each seat, and the game of this seed.
    ///
    /// # Panics
    /// When there are more or fewer players than seats.
    #[must_use]
    pub fn new(variant: Arc<Variant>, players: Vec<Player>, seed: EpisodeSeed) -> Table {
        assert_eq!(players.len(), usize::from(variant.players()), "a player for each seat");
        let observes = |player: &Player| matches!(player, Player::Bot(bot) if bot.observes());
        let (mut deck, start_player) = RandomDeck::new(&variant, seed);
        let position = Position::deal(&variant, start_player, &mut deck);
        let is_observed = players.iter().any(observes);
        let history = Vec::with_capacity(LONGEST);
        let mut table = Table { variant, players, is_observed, position, deck, seed, history };
        table.start_players();
        table
    }

    /// Deals the game of this seed.
    pub fn start(&mut self, seed: EpisodeSeed) {
        let (mut deck, start_player) = RandomDeck::new(&self.variant, seed);
        self.position = Position::deal(&self.variant, start_player, &mut deck);
        self.deck = deck;
        self.seed = seed;
        self.history.clear();
        self.start_players();
    }

    fn start_players(&mut self) {
        for (seat, player) in self.players.iter_mut().enumerate() {
            if let Player::Bot(bot) = player {
                let view = View::new(&self.variant, &self.position, seat);
                bot.start(&view, GameRng::for_seat(self.seed, seat));
            }
        }
    }

    /// The rules that are played.
    #[must_use]
    pub const fn variant(&self) -> &Arc<Variant> {
        &self.variant
    }

    /// The table as it stands.
    #[must_use]
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// The cards that are left to be drawn.
    #[must_use]
    pub const fn deck(&self) -> &RandomDeck {
        &self.deck
    }

    /// The seed of the game.
    #[must_use]
    pub const fn seed(&self) -> EpisodeSeed {
        self.seed
    }

    /// Turns played so far.
    #[must_use]
    pub const fn length(&self) -> usize {
        self.history.len()
    }

    /// The turns played so far, the oldest first.
    #[must_use]
    pub fn history(&self) -> &[Event] {
        &self.history
    }

    /// How the game ended, or `None` while it goes on.
    #[must_use]
    pub const fn ending(&self) -> Option<Ending> {
        self.position.ending()
    }

    /// Lets the bots play until the game is over or somebody outside is to act.
    ///
    /// # Errors
    /// [`BotMoveError`] when a bot chose a move that the rules refuse; the game stays there.
    pub fn run(&mut self) -> Result<(), BotMoveError> {
        while self.ending().is_none() {
            let Table { variant, position, history, .. } = self;
            let seat = position.current_player();
            let played = match &mut self.players[seat] {
                Player::Bot(bot) => {
                    bot.act(&View::new(variant, position, seat).with_history(history))
                }
                Player::Open(bot) => bot.act(variant, position),
                Player::Outside => return Ok(()),
            };
            if !self.position.is_legal(&self.variant, played) {
                let meaning = self.variant.edition().meaning(played);
                return Err(BotMoveError { seat, turn: self.length(), meaning });
            }
            self.apply(played);
        }
        Ok(())
    }

    /// Plays a legal move of the player to act, and tells everybody.
    pub fn apply(&mut self, played: Move) {
        if self.is_observed {
            let before = self.position;
            self.play(played);
            self.tell(&before);
        } else {
            self.play(played);
        }
    }

    fn play(&mut self, played: Move) {
        let Table { variant, position, deck, .. } = self;
        self.history.push(position.apply_unchecked(variant, played, deck));
    }

    /// Tells the bots of the last turn.
    fn tell(&mut self, before: &Position) {
        let Table { variant, position, history, .. } = self;
        let (event, earlier) = history.split_last().expect("a turn was played");
        for (seat, player) in self.players.iter_mut().enumerate() {
            if let Player::Bot(bot) = player {
                bot.observe(&Turn {
                    before: View::new(variant, before, seat).with_history(earlier),
                    event: event.seen_by(seat),
                    after: View::new(variant, position, seat).with_history(history),
                });
            }
        }
    }

    /// Ends the game as lost.
    pub fn forfeit(&mut self) {
        self.position.forfeit();
    }
}
