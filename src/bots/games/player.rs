//! Who plays in a seat, and why players cannot play.

use std::collections::TryReserveError;
use std::fmt;

use thiserror::Error;

use crate::bots::bot::{Bot, is_dropped};
use crate::bots::cheater;
use crate::rules::{Ending, Move, Position, Seat, UnsupportedVariantError, Variant, View};

/// The player of one seat.
#[derive(Clone)]
pub enum Player {
    /// A bot, which sees only what its seat may see.
    Bot(Box<dyn Bot>),
    /// The cheating bot, which sees all hands: an upper bound for the others.
    Cheater,
    /// A player outside this crate, whose moves the caller passes to
    /// [`GameRunner::play`](super::runner::GameRunner::play).
    External,
}

impl fmt::Debug for Player {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Player::Bot(_) => "Bot(..)",
            Player::Cheater => "Cheater",
            Player::External => "External",
        })
    }
}

impl Player {
    /// A player by a bot.
    pub fn bot(bot: impl Bot) -> Player {
        Player::Bot(Box::new(bot))
    }

    /// The bot; `None` for the other players.
    #[must_use]
    pub(crate) fn into_bot(self) -> Option<Box<dyn Bot>> {
        match self {
            Player::Bot(bot) => Some(bot),
            Player::Cheater | Player::External => None,
        }
    }

    /// As [`Bot::check_variant`].
    pub(crate) fn check_variant(&self, variant: &Variant) -> Result<(), UnsupportedVariantError> {
        match self {
            Player::Bot(bot) => bot.check_variant(variant),
            Player::Cheater | Player::External => Ok(()),
        }
    }

    /// The move of the player, who is to act; `position` is that of its view. `None` for an external
    /// player, and for a search that is stopped.
    #[inline]
    pub(super) fn choose(&mut self, view: &View<'_>, position: &Position) -> Option<Move> {
        match self {
            Player::Bot(bot) => {
                let chosen = bot.act(view);
                (!is_dropped(&**bot)).then_some(chosen)
            }
            Player::Cheater => Some(cheater::act(view.variant(), position)),
            Player::External => None,
        }
    }
}

/// Checks that there is one player for each seat.
pub(crate) fn check_number(variant: &Variant, found: usize) -> Result<(), GamesError> {
    let seats = variant.players().into();
    if found == seats { Ok(()) } else { Err(GamesError::Number { found, seats }) }
}

/// Checks that there is one player for each seat, and that each supports the variant.
pub(super) fn check_players(variant: &Variant, players: &[Player]) -> Result<(), GamesError> {
    check_number(variant, players.len())?;
    let mut seated = variant.seats().zip(players);
    seated.try_for_each(|(seat, player)| {
        player.check_variant(variant).map_err(|source| GamesError::Variant { seat, source })
    })
}

/// Why players cannot play, or why a player has no move.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GamesError {
    /// More or fewer players than seats.
    #[error("players has {found} entries: expected {seats}, one for each seat of this variant")]
    Number {
        /// The number of players.
        found: usize,
        /// The number of seats.
        seats: usize,
    },
    /// A bot does not support the variant.
    #[error("seat {seat} has a bot of another variant")]
    Variant {
        /// The bot's seat.
        seat: Seat,
        /// What it supports.
        source: UnsupportedVariantError,
    },
    /// A player is [`Player::External`]: the caller chooses its moves.
    #[error("a player is external: expected a bot for every seat")]
    External,
    /// Another seat is to act.
    #[error("seat {acting} is to act: expected a turn of seat {seat}, which the bot holds")]
    Seat {
        /// The seat to act.
        acting: Seat,
        /// The bot's seat.
        seat: Seat,
    },
    /// The game is over.
    #[error("the game is over ({0}): expected one that goes on")]
    Over(Ending),
    /// A bot chose an illegal move.
    #[error(transparent)]
    Move(#[from] BotMoveError),
    /// A bot chose an illegal move in one of many games.
    #[error("game {game}")]
    Game {
        /// The game of the seed.
        game: u64,
        /// The move.
        source: BotMoveError,
    },
    /// Memory that cannot be allocated.
    #[error("the games do not fit into memory")]
    Memory(#[from] TryReserveError),
    /// A signal came during a call from Python: no other caller can end a call early. A bot may be
    /// asked again.
    #[doc(hidden)]
    #[error("the call was stopped")]
    Stopped,
}

/// A bot chose an illegal move: a bug in the bot.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[error("the bot in seat {seat} chose {meaning}, which is not legal, in turn {turn}")]
pub struct BotMoveError {
    /// The bot's seat.
    pub seat: Seat,
    /// Number of turns played before.
    pub turn: usize,
    /// The move.
    pub played: Move,
    /// The move in words.
    pub meaning: String,
}

impl BotMoveError {
    /// Checks the move that the player of a seat chose in its turn.
    #[inline]
    pub(super) fn check(view: &View<'_>, played: Move) -> Result<(), BotMoveError> {
        if view.is_legal(played) { Ok(()) } else { Err(BotMoveError::new(view, played)) }
    }

    #[cold]
    fn new(view: &View<'_>, played: Move) -> BotMoveError {
        let turn = view.history().map_or(0, |history| history.len());
        let meaning = view.variant().edition().meaning(played);
        BotMoveError { seat: view.observer(), turn, played, meaning }
    }
}
