//! The one table that turns Rust errors into Python exceptions.

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyTypeInfo, create_exception};

use crate::batch::{self, BatchError};
use crate::bindings::arguments::listed::Listed;
use crate::bindings::arguments::text::Text;
use crate::bots::GamesError;
use crate::buffers::{BufferError, InstructionSetError};
use crate::nn;
use crate::players::PlayerSpecError;
use crate::rules::{self, ActionId, MoveError, RecordingError, error_text};
use crate::search::SearchError;

/// Defines the classes of exceptions.
macro_rules! classes {
    ($($name:ident($base:ty): $doc:literal;)+) => {
        $(create_exception!(starmine, $name, $base, $doc);)+
    };
}

classes! {
    StarmineError(PyValueError): "A value that starmine refuses. The base class of all other errors
    except `BusyError`.";
    VariantError(StarmineError): "A parameter of a variant that is out of range,
    or a variant that a bot does not play.";
    DeckError(StarmineError): "A deck or a start player that does not fit the variant.";
    IllegalActionError(StarmineError): "An action that is not legal. Nothing has moved.

    Attributes, except where a `Move` or its text is not a move of the variant:
        count (int): how many actions are illegal.
        rows (list[int]): the indices of the first 100 of their games, ascending. A single game is row 0.
        actions (list[int]): the action of each of these games.
        legal (list[list[int]]): the legal actions of each, ascending. None in a game that is over, and in a single
        game for a number that is no action id.";
    NotationError(StarmineError): "Text that is not a card or a move.";
    ArrayError(StarmineError): "An array of the wrong shape, dtype or layout.";
    UnknownNameError(StarmineError): "A name that no preset, encoder, bot, rule or setting has,
    or a bot's text that cannot be read.";
    SerializationError(StarmineError): "Stored data that is damaged or of another version.";
    BusyError(PyRuntimeError): "A batch or a bot that another thread is using,
    or a batch that another thread was using when this process was forked.";
}

/// The classes of exceptions for errors that have one each.
macro_rules! exceptions {
    ($($rust:ty => $python:ident),+ $(,)?) => {
        $(impl From<$rust> for PyErr {
            fn from(error: $rust) -> PyErr {
                $python::new_err(error_text(&error))
            }
        })+
    };
}

exceptions! {
    rules::VariantError => VariantError,
    rules::DeckError => DeckError,
    rules::NotationError => NotationError,
    rules::UnknownNameError => UnknownNameError,
    rules::UnsupportedVariantError => VariantError,
    rules::SeenGameError => StarmineError,
    BufferError => ArrayError,
    InstructionSetError => StarmineError,
    SearchError => StarmineError,
}

/// _unknown_name(kind, name, known) -> UnknownNameError
///
/// The error for a name that is not one of the known ones, with the most similar of them.
#[pyfunction]
pub fn _unknown_name(kind: &str, name: Text, known: Listed<Text>) -> PyErr {
    rules::UnknownNameError::new(kind, &name, known).into()
}

/// The exception for a text that names no player.
fn player_exception(error: &PlayerSpecError, message: String) -> PyErr {
    match error {
        PlayerSpecError::Policy(
            nn::PolicyError::Refused { .. } | nn::PolicyError::OtherVersion { .. },
        ) => SerializationError::new_err(message),
        PlayerSpecError::Search(SearchError::Unknown(_)) => UnknownNameError::new_err(message),
        PlayerSpecError::Search(_) | PlayerSpecError::Twice(_) => StarmineError::new_err(message),
        _ => UnknownNameError::new_err(message),
    }
}

impl From<PlayerSpecError> for PyErr {
    fn from(error: PlayerSpecError) -> PyErr {
        player_exception(&error, error_text(&error))
    }
}

impl From<GamesError> for PyErr {
    fn from(error: GamesError) -> PyErr {
        match error {
            GamesError::External => {
                StarmineError::new_err("players: expected a bot's name for every seat")
            }
            GamesError::Memory(_) => PyMemoryError::new_err(error_text(&error)),
            _ => StarmineError::new_err(error_text(&error)),
        }
    }
}

/// The text of an error of a batch, in the words of Python's arguments.
fn batch_text(error: &BatchError) -> String {
    match error {
        BatchError::Memory { num_envs, source } => format!("num_envs={num_envs}: {source}"),
        BatchError::Deck { game, source } => format!("decks[{game}]: {source}"),
        BatchError::Partner(_) | BatchError::PartnerVariant(_) => {
            format!("partners: {}", error_text(error))
        }
        BatchError::Stored { problem, source: Some(source) } => match source.downcast_ref() {
            Some(error) => format!("{problem}: {}", batch_text(error)),
            None => error_text(error),
        },
        BatchError::Recorded { game, source: RecordingError::Move { turn, source } } => {
            format!("game {game}, turn {turn}: {source}")
        }
        BatchError::Recorded { game, source } => format!("game {game}: {source}"),
        BatchError::EmptyResetMask => {
            "reset_mask is all False: expected at least one game to reset".to_owned()
        }
        error => error_text(error),
    }
}

impl From<BatchError> for PyErr {
    fn from(error: BatchError) -> PyErr {
        let text = batch_text(&error);
        match error {
            BatchError::IllegalActions(error) => illegal_actions(&error),
            BatchError::Buffer(error) => error.into(),
            BatchError::Partner(error) => player_exception(&error, text),
            BatchError::PartnerVariant(_) => VariantError::new_err(text),
            BatchError::InstructionSet(_)
            | BatchError::Number { .. }
            | BatchError::Threads(_)
            | BatchError::Partners(_)
            | BatchError::ReplayOption(_)
            | BatchError::ReplayEnded
            | BatchError::Interrupted
            | BatchError::Worlds(_) => StarmineError::new_err(text),
            BatchError::Memory { .. } => PyMemoryError::new_err(text),
            BatchError::Stopped => PyKeyboardInterrupt::new_err(text),
            BatchError::Deck { .. }
            | BatchError::Recorded { source: RecordingError::Deck(_), .. } => {
                DeckError::new_err(text)
            }
            BatchError::Recorded { .. } => StarmineError::new_err(text),
            BatchError::NotStored(_) | BatchError::Stored { .. } => {
                SerializationError::new_err(text)
            }
            BatchError::EmptyResetMask => ArrayError::new_err(text),
        }
    }
}

/// The exception for an action that is not legal in a single game.
pub fn illegal_action(error: &MoveError, message: String) -> PyErr {
    let (action, legal) = match error {
        MoveError::OutOfRange { action, .. } | MoveError::GameOver { action, .. } => {
            (*action, vec![])
        }
        MoveError::Illegal { action, legal, .. } => {
            (u8::from(*action).into(), legal.iter().map(ActionId::index).collect())
        }
        MoveError::NoMove { .. } => return IllegalActionError::new_err(message),
    };
    illegal(message, 1, &[0], &[action], &[legal])
}

fn illegal_actions(error: &batch::IllegalActionsError) -> PyErr {
    let listed = &error.listed;
    let games: Vec<usize> = listed.iter().map(|refused| refused.game).collect();
    let actions: Vec<i64> = listed.iter().map(|refused| refused.action).collect();
    let ids = |refused: &batch::RefusedAction| refused.legal.iter().map(ActionId::index).collect();
    let legal: Vec<Vec<usize>> = listed.iter().map(ids).collect();
    illegal(error.to_string(), error.count, &games, &actions, &legal)
}

fn illegal(
    message: String,
    count: usize,
    rows: &[usize],
    actions: &[i64],
    legal: &[Vec<usize>],
) -> PyErr {
    Python::attach(|py| {
        let build = || {
            let exception = IllegalActionError::type_object(py).call1((message,))?;
            exception.setattr("count", count)?;
            exception.setattr("rows", rows)?;
            exception.setattr("actions", actions)?;
            exception.setattr("legal", legal)?;
            Ok(PyErr::from_value(exception))
        };
        build().unwrap_or_else(|failed| failed)
    })
}
