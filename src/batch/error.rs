//! The errors of a batch.

use std::sync::Arc;

use thiserror::Error;

use crate::buffers::{BufferError, InstructionSetError};
use crate::players::PlayerSpecError;
use crate::rules::{ActionSet, DeckError, RecordingError, Seat, UnsupportedVariantError, Variant};
use crate::threads::is_stopped;

/// Illegal actions, for which a step was refused; no game has moved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IllegalActionsError {
    /// How many there are.
    pub count: usize,
    /// The first of them, at most [`IllegalActionsError::LISTED`], in the order of the games.
    pub listed: Vec<RefusedAction>,
    /// The variant, which names the moves.
    pub variant: Arc<Variant>,
}

/// An action that is not legal in its game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedAction {
    /// The index of the game.
    pub game: usize,
    /// The action as it was given, which need not be an id of the variant.
    pub action: i64,
    /// The legal actions; none in a game that is over.
    pub legal: ActionSet,
}

impl IllegalActionsError {
    /// The most games that an error lists.
    pub const LISTED: usize = 100;

    /// The action in words, in brackets; nothing for an id that the variant does not have.
    fn meaning(&self, action: i64) -> String {
        let played =
            self.variant.action_id(action).and_then(|action| self.variant.action_to_move(action));
        played.map_or_else(
            |_| String::new(),
            |played| format!(" ({})", self.variant.edition().meaning(played)),
        )
    }
}

impl std::fmt::Display for IllegalActionsError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 5;
        write!(formatter, "{} illegal action(s), no game has moved: ", self.count)?;
        for (index, &RefusedAction { game, action, legal }) in
            self.listed.iter().take(SHOWN).enumerate()
        {
            let meaning = self.meaning(action);
            let separator = if index == 0 { "" } else { "; " };
            if legal.is_empty() {
                write!(
                    formatter,
                    "{separator}actions[{game}]={action}{meaning}, but game {game} is over: reset it first"
                )?;
            } else {
                let legal = self.variant.actions_text(legal);
                write!(
                    formatter,
                    "{separator}actions[{game}]={action}{meaning}, expected one of {legal}"
                )?;
            }
        }
        let more = self.count.saturating_sub(SHOWN);
        if more > 0 { write!(formatter, "; and {more} more") } else { Ok(()) }
    }
}

impl std::error::Error for IllegalActionsError {}

/// Why a call of a batch was refused. The batch is unchanged, unless the case says otherwise.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BatchError {
    /// Illegal actions.
    #[error(transparent)]
    IllegalActions(#[from] IllegalActionsError),
    /// A buffer or an array of the wrong length or type.
    #[error(transparent)]
    Buffer(#[from] BufferError),
    /// An instruction set that this processor does not have.
    #[error(transparent)]
    InstructionSet(#[from] InstructionSetError),
    /// A number of games that is out of range.
    #[error("num_envs={found} is not allowed: expected 1 to {most}")]
    Number {
        /// The number.
        found: usize,
        /// The highest number that is allowed.
        most: usize,
    },
    /// Threads that the system does not start.
    #[error("the threads of the batch could not be started")]
    Threads(#[source] std::io::Error),
    /// A text that names no partner.
    #[error(transparent)]
    Partner(#[from] PlayerSpecError),
    /// A partner that cannot play the variant.
    #[error(transparent)]
    PartnerVariant(#[from] UnsupportedVariantError),
    /// Partners that are not allowed, or a call that does not fit the partners of the batch.
    #[error(transparent)]
    Partners(#[from] PartnersError),
    /// Memory that cannot be allocated.
    #[error("there is no memory for num_envs={num_envs}")]
    Memory {
        /// The number of games.
        num_envs: usize,
        /// The allocator's error.
        source: std::collections::TryReserveError,
    },
    /// A deck or a start player that does not fit the variant.
    #[error("the deck of game {game} cannot be dealt")]
    Deck {
        /// The game.
        game: usize,
        /// What is wrong with it.
        source: DeckError,
    },
    /// A recorded game that cannot be dealt or played.
    #[error("game {game} cannot be replayed")]
    Recorded {
        /// The game.
        game: usize,
        /// What is wrong with its deck, its start player or one of its actions.
        source: RecordingError,
    },
    /// An option that has no effect in a replay.
    #[error("{0} has no effect in a replay: expected its default")]
    ReplayOption(&'static str),
    /// A step of a replay that has met an error before.
    #[error("this replay has ended with an error: expected a new one, without that game")]
    ReplayEnded,
    /// Games that cannot be stored.
    #[error("this batch cannot be stored")]
    NotStored(#[from] NotStoredError),
    /// Bytes that are not a stored batch, are damaged, or have the format of another version.
    #[error("{problem}")]
    Stored {
        /// What is wrong with them.
        problem: String,
        /// The cause, if there is another error.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// Worlds that do not fit the batch that they are written into, or an observer that does not exist.
    #[error(transparent)]
    Worlds(#[from] WorldsError),
    /// A signal came during a call from Python: no other caller can end a call early.
    #[doc(hidden)]
    #[error("the call was stopped")]
    Stopped,
    /// An earlier step, reset or write of worlds ended halfway, or its outputs are lost: by a panic, by a signal from
    /// Python, or by [`PartnersError::NoTurn`].
    #[error("an earlier call was interrupted halfway: expected a reset of all games first")]
    Interrupted,
    /// A reset mask without a game.
    #[error("the reset mask has no game: expected at least one game to reset")]
    EmptyResetMask,
}

/// Partners that are not allowed, or a call that does not fit the partners of a batch.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PartnersError {
    /// No partner for a seat, or too many.
    #[error("partners: {found} bots for seat {seat}: expected 1 to {most}")]
    Number {
        /// The seat.
        seat: Seat,
        /// The number of partners.
        found: usize,
        /// The highest number that is allowed.
        most: usize,
    },
    /// Weights that are not one for each partner, or from which nobody can be drawn.
    #[error(
        "partners: weights {weights:?} for seat {seat}: expected a number of at least 0 for each partner, one above 0"
    )]
    Weights {
        /// The seat.
        seat: Seat,
        /// The weights.
        weights: Vec<f64>,
    },
    /// A seat that the variant does not have.
    #[error("partners: seat {seat} is not allowed: expected 0 to {}", players - 1)]
    Seat {
        /// The seat.
        seat: Seat,
        /// The number of seats.
        players: u8,
    },
    /// Partners in all seats.
    #[error("partners hold all {0} seats: expected at least one seat without a partner")]
    NoLearner(u8),
    /// Partners who ended every deal of a game before the learner's first turn; so many deals are tried.
    #[error(
        "partners: they ended {deals} deals of game {game} in a row before the learner's first turn: expected partners that leave the learner a turn"
    )]
    NoTurn {
        /// The game.
        game: usize,
        /// The number of these deals.
        deals: u16,
    },
    /// A call that a batch without partners does not have.
    #[error("this batch has no partners: expected one with partners, or a step of all games")]
    Missing,
    /// Decks that are given to a batch with partners.
    #[error("decks are not allowed in a batch with partners")]
    Decks,
    /// A turn of the learner in a game that waits for a partner.
    #[error("game {game} waits for a partner: expected its turn by play_partners first")]
    PartnerToAct {
        /// The game.
        game: usize,
    },
    /// A turn of a partner in a game that waits for the learner.
    #[error("game {game} waits for the learner: expected the turn of a partner")]
    LearnerToAct {
        /// The game.
        game: usize,
    },
}

/// Why a batch cannot be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotStoredError {
    /// Worlds that were drawn into it.
    #[error("worlds were drawn into it: expected a reset of all games first")]
    Worlds,
    /// Games with given decks, which do not follow from their seeds.
    #[error("{0} game(s) have given decks: expected decks and actions to be kept instead")]
    GivenDecks(usize),
    /// External partners.
    #[error("it has external partners: expected bots and policy files as partners")]
    ExternalPartners,
}

/// Worlds that do not fit the batch that they are written into, or an observer that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WorldsError {
    /// A seat that the variant does not have.
    #[error("observer={observer} is not allowed: expected 0 to {}", players - 1)]
    Observer {
        /// The seat.
        observer: Seat,
        /// The number of seats.
        players: u8,
    },
    /// A game that is over, in a batch with autoreset in the same step, which would never deal it anew.
    #[error(
        "worlds cannot be written into a batch with autoreset in the same step, since games are over: game {game} is"
    )]
    Finished {
        /// The game that is over.
        game: usize,
    },
    /// A batch with another number of games.
    #[error(
        "worlds cannot be written into a batch with another number of games than the worlds: expected {expected}, found {found}"
    )]
    Number {
        /// The number of games.
        found: usize,
        /// The number of worlds.
        expected: usize,
    },
    /// A batch with another variant.
    #[error(
        "worlds cannot be written into a batch with another variant: expected {expected}, found {found}"
    )]
    Variant {
        /// The variant of that batch.
        found: Arc<Variant>,
        /// The variant of the worlds.
        expected: Arc<Variant>,
    },
    /// A batch with partners.
    #[error("worlds cannot be written into a batch with partners, since all seats act in a world")]
    Partners,
}

/// The problem of stored bytes that no batch has written.
pub(super) const DAMAGED: &str = "the stored batch is damaged";

impl BatchError {
    /// The error for stored bytes that another error makes unreadable.
    pub(super) fn stored(
        problem: impl Into<String>,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> BatchError {
        BatchError::Stored { problem: problem.into(), source: Some(Box::new(source)) }
    }

    /// [`BatchError::Stopped`] if the call is to end.
    pub(super) fn check_stop() -> Result<(), BatchError> {
        if is_stopped() { Err(BatchError::Stopped) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;
    use crate::batch::{Batch, GivenDecks, Options, Outputs, Seeds};
    use crate::bots::GamesError;
    use crate::buffers::InstructionSetError;
    use crate::nn::{Policy, PolicyError};
    use crate::players::PlayerSpec;
    use crate::rules::{MoveError, Parameters, error_text};

    /// The texts of an error and its sources.
    fn texts(error: &(dyn Error + 'static)) -> Vec<String> {
        let mut texts = vec![error.to_string()];
        if let Some(source) = error.source() {
            texts.extend(self::texts(source));
        }
        texts
    }

    fn variant() -> Arc<Variant> {
        Arc::new(Variant::new(Parameters::default()).unwrap())
    }

    fn no_memory() -> std::collections::TryReserveError {
        Vec::<u8>::new().try_reserve(usize::MAX).unwrap_err()
    }

    fn refused_deck() -> BatchError {
        let mut batch = Batch::new(variant(), 1, 0, Options::default()).unwrap();
        let decks = GivenDecks { cards: &[0; 50], start_players: None };
        batch.reset_to_decks(decks, Seeds::Continue, None, Outputs::default()).unwrap_err()
    }

    #[test]
    fn errors_do_not_repeat_their_sources() {
        let illegal = MoveError::OutOfRange { action: 99, num_actions: 20 };
        let header = || PolicyError::Refused {
            path: "p".to_owned(),
            source: Variant::new(Parameters { players: 9, ..Parameters::default() })
                .unwrap_err()
                .into(),
        };
        let no_such_set =
            InstructionSetError { name: "mmx".to_owned(), available: "avx2".to_owned() };
        let not_runnable =
            PolicyError::Refused { path: "p".to_owned(), source: no_such_set.into() };
        let cases: [(Box<dyn Error>, usize); 11] = [
            ("policy: no-such-file".parse::<PlayerSpec>().unwrap_err().into(), 3),
            (Policy::of_file("p", b"not a policy").unwrap_err().into(), 3),
            (not_runnable.into(), 3),
            (RecordingError::Move { turn: 3, source: illegal.clone() }.into(), 2),
            (BatchError::Threads(std::io::Error::other("full")).into(), 2),
            (header().into(), 3),
            (GamesError::Memory(no_memory()).into(), 2),
            (PlayerSpecError::Policy(header()).into(), 3),
            (refused_deck().into(), 2),
            (
                BatchError::Recorded {
                    game: 0,
                    source: RecordingError::Move { turn: 3, source: illegal },
                }
                .into(),
                3,
            ),
            (BatchError::stored("it cannot be resumed", header()).into(), 4),
        ];
        for (error, length) in cases {
            let texts = texts(&*error);
            assert_eq!(texts.len(), length, "{texts:?}");
            for (outer, inner) in texts.iter().zip(&texts[1..]) {
                assert!(!outer.contains(inner.as_str()), "{texts:?}");
            }
            assert_eq!(error_text(&*error), texts.join(": "));
        }
    }

    #[test]
    fn the_cause_of_an_unreadable_policy_is_at_hand() {
        let refused = "policy: no-such-file".parse::<PlayerSpec>().unwrap_err();
        let PlayerSpecError::Policy(PolicyError::Unreadable { source, .. }) = refused else {
            panic!("{refused:?}");
        };
        let cause: &std::io::Error = source.source().unwrap().downcast_ref().unwrap();
        assert_eq!(cause.kind(), std::io::ErrorKind::NotFound);
    }
}
