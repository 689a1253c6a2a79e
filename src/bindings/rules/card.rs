//! The Python class `Card`, and decks given as sequences of cards.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::bindings::arguments::numbers::{Integer, wrong_type};
use crate::bindings::arguments::text::Text;
use crate::bindings::arrays::copies::while_read;
use crate::bindings::errors::{NotationError, StarmineError};
use crate::rules::{self, Edition};

/// Card(text)
///
/// A card, written as a suit's letter and a rank from 1 to 5. The letters are R Y G W B M, K for the
/// black suit of the Ikebana edition, and S H D C for playing cards. Letters of the same suit index
/// are equal: Card("S1") == Card("R1").
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
#[pyclass(frozen, eq, ord, hash, from_py_object, module = "starmine")]
#[derive(Clone, Copy)]
pub struct Card {
    card: rules::Card,
    /// The edition whose letter the text shows. Equality and order ignore it.
    edition: Edition,
}

impl Card {
    pub fn new(card: rules::Card, edition: Edition) -> Card {
        Card { card, edition }
    }

    pub fn rules(self) -> rules::Card {
        self.card
    }
}

impl PartialEq for Card {
    fn eq(&self, other: &Card) -> bool {
        self.card == other.card
    }
}

impl Eq for Card {}

impl PartialOrd for Card {
    fn partial_cmp(&self, other: &Card) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Card {
    fn cmp(&self, other: &Card) -> Ordering {
        self.card.cmp(&other.card)
    }
}

impl Hash for Card {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.card.hash(state);
    }
}

#[pymethods]
impl Card {
    #[new]
    fn from_text(text: Text) -> PyResult<Card> {
        let card: rules::Card = text.parse()?;
        let letter = text.chars().next();
        let written = |edition: &Edition| {
            letter.is_some_and(|l| l.eq_ignore_ascii_case(&edition.letter(card.suit)))
        };
        let edition = Edition::ALL.iter().copied().find(written).unwrap_or_default();
        Ok(Card { card, edition })
    }

    /// The card of a suit and a rank, both from 0.
    ///
    /// Raises:
    ///     StarmineError: a suit or rank that no variant has.
    #[classmethod]
    fn of(_class: &Bound<'_, PyType>, suit: Integer, rank: Integer) -> PyResult<Card> {
        let refuse = |name, number: &Integer, high| {
            StarmineError::new_err(format!("{name}={number} is not allowed: expected 0 to {high}"))
        };
        let small = |number: i64| usize::try_from(number).ok();
        let known_suit = small(suit.value).and_then(rules::Suit::new);
        let known_rank = small(rank.value).and_then(rules::Rank::new);
        let card = rules::Card::new(
            known_suit.ok_or_else(|| refuse("suit", &suit, rules::MAX_COLORS - 1))?,
            known_rank.ok_or_else(|| refuse("rank", &rank, rules::MAX_RANKS - 1))?,
        );
        Ok(Card { card, edition: Edition::Standard })
    }

    #[getter]
    fn suit(&self) -> usize {
        self.card.suit.index()
    }

    #[getter]
    fn rank(&self) -> usize {
        self.card.rank.index()
    }

    fn __repr__(&self) -> String {
        format!("Card('{}')", self.__str__())
    }

    pub fn __str__(&self) -> String {
        self.edition.card(self.card)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (String,)) {
        (py.get_type::<Card>(), (self.__str__(),))
    }
}

/// Reads cards: `Card`s or their text.
///
/// It reads at most one card more than a deck has, so an endless iterator is refused too.
pub fn cards(deck: &Bound<'_, PyAny>, most: u8) -> PyResult<Vec<rules::Card>> {
    let read = |(place, item): (usize, PyResult<Bound<'_, PyAny>>)| {
        let item = item?;
        if let Ok(card) = item.cast::<Card>() {
            return Ok(card.get().card);
        }
        match item.extract::<Text>() {
            Ok(text) => text.parse().map_err(|error: rules::NotationError| {
                NotationError::new_err(format!("deck[{place}]: {error}"))
            }),
            Err(_) => Err(NotationError::new_err(format!(
                "deck[{place}]={} is not a card: expected a Card or text such as \"R1\"",
                item.repr()?
            ))),
        }
    };
    let Ok(items) = deck.try_iter() else {
        return Err(wrong_type("deck", deck, "cards, the top card first"));
    };
    while_read("deck", deck, || items.take(usize::from(most) + 1).enumerate().map(read).collect())
}
