//! The Python class `Move`: a move with its text in the notation of a variant.

use std::hash::{Hash, Hasher};

use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::bindings::arguments::text::Text;
use crate::rules::{self, ActionSet, Edition, Hint};

/// Move(text)
///
/// A move. Its text is that of `Variant.action_meaning`, and short forms such as "play 2" are read
/// too. A move made from text shows the standard edition's colours. Colours of the same index are equal:
/// Move("hint +1 spades") == Move("hint +1 red").
///
/// Attributes:
///     kind: "play", "discard", "color_hint" or "rank_hint".
///     slot: the slot played or discarded, 0 for the oldest card, or None.
///     offset: the teammate that is hinted, 1 for the next seat, or None.
///     color: the hinted colour from 0, or None.
///     rank: the hinted rank from 0, or None (text shows ranks from 1).
///     announced: the colour that an announced play names, from 0, or None.
///
/// Raises:
///     NotationError: the text is not a move.
///
/// >>> import starmine
/// >>> starmine.Move("hint +1 red")
/// Move('hint +1 red')
#[pyclass(frozen, eq, hash, module = "starmine")]
#[derive(Clone, Copy)]
pub struct Move {
    played: rules::Move,
    /// The edition whose colours the text names. Equality ignores it.
    edition: Edition,
}

impl Move {
    pub fn new(played: rules::Move, edition: Edition) -> Move {
        Move { played, edition }
    }

    pub fn played(&self) -> rules::Move {
        self.played
    }
}

impl PartialEq for Move {
    fn eq(&self, other: &Move) -> bool {
        self.played == other.played
    }
}

impl Eq for Move {}

impl Hash for Move {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.played.hash(state);
    }
}

#[pymethods]
impl Move {
    #[new]
    fn from_text(text: Text) -> PyResult<Move> {
        Ok(Move::new(text.parse()?, Edition::Standard))
    }

    #[getter]
    fn kind(&self) -> &'static str {
        kind(self.played)
    }

    #[getter]
    fn slot(&self) -> Option<u8> {
        use rules::Move::{AnnouncedPlay, Discard, Hint, Play};
        match self.played {
            Play { slot } | AnnouncedPlay { slot, .. } | Discard { slot } => Some(slot.into()),
            Hint { .. } => None,
        }
    }

    #[getter]
    fn offset(&self) -> Option<u8> {
        match self.played {
            rules::Move::Hint { offset, .. } => Some(offset.into()),
            _ => None,
        }
    }

    #[getter]
    fn color(&self) -> Option<usize> {
        match self.played {
            rules::Move::Hint { hint: Hint::Color(suit), .. } => Some(suit.index()),
            _ => None,
        }
    }

    #[getter]
    fn rank(&self) -> Option<usize> {
        match self.played {
            rules::Move::Hint { hint: Hint::Rank(rank), .. } => Some(rank.index()),
            _ => None,
        }
    }

    #[getter]
    fn announced(&self) -> Option<usize> {
        match self.played {
            rules::Move::AnnouncedPlay { suit, .. } => Some(suit.index()),
            _ => None,
        }
    }

    fn __str__(&self) -> String {
        self.edition.meaning(self.played)
    }

    fn __repr__(&self) -> String {
        format!("Move('{}')", self.__str__())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (String,)) {
        (py.get_type::<Move>(), (self.__str__(),))
    }
}

/// The kind of a move, as text.
pub fn kind(played: rules::Move) -> &'static str {
    use rules::Move::{AnnouncedPlay, Discard, Hint as Hinting, Play};
    match played {
        Play { .. } | AnnouncedPlay { .. } => "play",
        Discard { .. } => "discard",
        Hinting { hint: Hint::Color(_), .. } => "color_hint",
        Hinting { hint: Hint::Rank(_), .. } => "rank_hint",
    }
}

/// The moves of actions.
pub fn moves(variant: &rules::Variant, actions: ActionSet) -> Vec<Move> {
    let played = actions.iter().map(|action| variant.action_to_move(action));
    let played = played.map(|played| played.expect("a legal action has a move"));
    played.map(|played| Move::new(played, variant.edition())).collect()
}
