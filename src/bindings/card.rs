use pyo3::prelude::*;
use pyo3::types::PyType;

use super::errors::{NotationError, StarmineError};
use super::numbers::Integer;
use crate::rules;

/// Card(text)
///
/// A card, read from a suit's letter (R Y G W B M) and a rank from 1 to 5.
///
/// Attributes:
///     suit: the suit as an integer from 0, as in HLE.
///     rank: the rank as an integer from 0, as in HLE (text shows ranks from 1).
///
/// Raises:
///     NotationError: the text is not a card.
///
/// >>> import starmine
/// >>> card = starmine.Card("G4")
/// >>> card.suit, card.rank
/// (2, 3)
#[pyclass(frozen, eq, ord, hash, str = "{0}", module = "starmine")]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Card(pub rules::Card);

#[pymethods]
impl Card {
    #[new]
    fn new(text: &str) -> PyResult<Card> {
        Ok(Card(text.parse()?))
    }

    /// The card of a suit and a rank, both from 0.
    ///
    /// Raises:
    ///     StarmineError: no variant has such a suit or rank.
    #[classmethod]
    fn of(_class: &Bound<'_, PyType>, suit: Integer, rank: Integer) -> PyResult<Card> {
        let refuse = |name, number, high| {
            StarmineError::new_err(format!("{name}={number} is not allowed: expected 0 to {high}"))
        };
        let small = |number: i64| u8::try_from(number).ok();
        let known_suit = small(suit.0).and_then(rules::Suit::new);
        let known_rank = small(rank.0).and_then(rules::Rank::new);
        Ok(Card(rules::Card::new(
            known_suit.ok_or_else(|| refuse("suit", suit.0, rules::MAX_COLORS - 1))?,
            known_rank.ok_or_else(|| refuse("rank", rank.0, rules::MAX_RANKS - 1))?,
        )))
    }

    #[getter]
    fn suit(&self) -> usize {
        self.0.suit.index()
    }

    #[getter]
    fn rank(&self) -> usize {
        self.0.rank.index()
    }

    fn __repr__(&self) -> String {
        format!("Card('{}')", self.0)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (String,)) {
        (py.get_type::<Card>(), (self.0.to_string(),))
    }
}

/// Cards that Python gave: `Card`s or their text.
pub(super) fn cards(deck: &Bound<'_, PyAny>) -> PyResult<Vec<rules::Card>> {
    let read = |item: PyResult<Bound<'_, PyAny>>| {
        let item = item?;
        if let Ok(card) = item.cast::<Card>() {
            return Ok(card.get().0);
        }
        match item.extract::<String>() {
            Ok(text) => Ok(text.parse()?),
            Err(_) => Err(NotationError::new_err(format!(
                "{} is not a card: expected a Card or text such as \"R1\"",
                item.repr()?
            ))),
        }
    };
    deck.try_iter()?.map(read).collect()
}
