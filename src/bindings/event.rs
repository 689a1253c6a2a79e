use pyo3::prelude::*;

use super::card::Card;
use super::moves::kind;
use crate::rules::{self, Edition, Hint, Move};

/// One turn that was played: the move and what it revealed.
///
/// Attributes:
///     seat: the seat that moved.
///     action: the move's action id.
///     move: the move as text, such as "hint +1 red".
///     kind: "play", "discard", "color_hint" or "rank_hint".
///     slot: the slot played or discarded, or None.
///     target: the seat that was hinted, or None.
///     color: the hinted colour from 0, or None.
///     rank: the hinted rank from 0, or None.
///     announced: the colour that an announced play named, from 0, or None.
///     touched: the slots of the cards that the hint matches.
///     card: the card played or discarded, or None.
///     added: whether the played card was added to its firework.
///     misplay: whether the played card was not the next of its firework.
///     regained: information tokens regained.
///     drawn: the card drawn afterwards, or None. A view hides the cards that its observer drew.
#[pyclass(frozen, eq, module = "starmine")]
#[derive(Clone, PartialEq)]
pub struct Event {
    event: rules::Event,
    #[pyo3(get)]
    action: usize,
    players: u8,
    edition: Edition,
}

impl Event {
    pub(super) fn new(variant: &rules::Variant, event: rules::Event) -> Event {
        let action = variant.move_to_action(event.played);
        Event {
            event,
            action: action.expect("a played move has an action"),
            players: variant.players(),
            edition: variant.edition(),
        }
    }
}

#[pymethods]
impl Event {
    #[getter]
    fn seat(&self) -> u8 {
        self.event.seat
    }

    #[getter]
    fn r#move(&self) -> String {
        self.edition.move_text(self.event.played)
    }

    #[getter]
    fn kind(&self) -> &'static str {
        kind(self.event.played)
    }

    #[getter]
    fn slot(&self) -> Option<u8> {
        match self.event.played {
            Move::Play { slot } | Move::AnnouncedPlay { slot, .. } | Move::Discard { slot } => {
                Some(slot)
            }
            Move::Hint { .. } => None,
        }
    }

    #[getter]
    fn target(&self) -> Option<u8> {
        match self.event.played {
            Move::Hint { offset, .. } => Some((self.event.seat + offset) % self.players),
            _ => None,
        }
    }

    #[getter]
    fn color(&self) -> Option<usize> {
        match self.event.played {
            Move::Hint { hint: Hint::Color(suit), .. } => Some(suit.index()),
            _ => None,
        }
    }

    #[getter]
    fn announced(&self) -> Option<usize> {
        match self.event.played {
            Move::AnnouncedPlay { suit, .. } => Some(suit.index()),
            _ => None,
        }
    }

    #[getter]
    fn rank(&self) -> Option<usize> {
        match self.event.played {
            Move::Hint { hint: Hint::Rank(rank), .. } => Some(rank.index()),
            _ => None,
        }
    }

    #[getter]
    fn touched(&self) -> Vec<usize> {
        self.event.touched.iter().collect()
    }

    #[getter]
    fn card(&self) -> Option<Card> {
        self.event.card.map(|card| Card::new(card, self.edition))
    }

    #[getter]
    fn added(&self) -> bool {
        self.event.added
    }

    #[getter]
    fn misplay(&self) -> bool {
        self.event.is_misplay()
    }

    #[getter]
    fn regained(&self) -> u8 {
        self.event.regained
    }

    #[getter]
    fn drawn(&self) -> Option<Card> {
        self.event.drawn.map(|card| Card::new(card, self.edition))
    }

    fn __str__(&self) -> String {
        self.edition.event(&self.event)
    }

    fn __repr__(&self) -> String {
        format!("<Event {}>", self.__str__())
    }
}
