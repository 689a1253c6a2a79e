//! The Python class `Event`: what one turn of a game did.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use pyo3::prelude::*;

use super::card::Card;
use super::moves::kind;
use super::variant::Variant;
use crate::bindings::errors::StarmineError;
use crate::rules::{self, Hint, Move, Slot, SlotSet};

/// The arguments of `Event._restored`.
type RestoreArguments = (Variant, u8, usize, u8, Option<Card>, bool, u8, Option<Card>);

/// One turn that was played: the move and what it revealed.
///
/// Attributes:
///     seat: the seat that moved.
///     action: the move's action id.
///     move: the move as short text, such as "play 2" or "hint +1 red".
///     kind: "play", "discard", "color_hint" or "rank_hint".
///     slot: the slot played or discarded, or None.
///     target: the seat that was hinted, or None.
///     color: the hinted colour from 0, or None.
///     rank: the hinted rank from 0, or None.
///     announced: the colour that an announced play named, from 0, or None.
///     touched: the slots of the cards that the hint matches.
///     card: the card played or discarded, or None.
///     added: whether the played card was added to its firework.
///     misplay: whether a card was played and not added to its firework, which costs a life token.
///     regained: information tokens regained.
///     drawn: the card drawn afterwards, or None. A view hides the cards that its observer drew.
#[pyclass(frozen, eq, hash, module = "starmine")]
#[derive(Clone)]
pub struct Event {
    event: rules::Event,
    #[pyo3(get)]
    action: usize,
    variant: Arc<rules::Variant>,
}

impl Event {
    pub fn new(variant: &Arc<rules::Variant>, event: rules::Event) -> Event {
        let action = variant.move_to_action(event.played);
        let action = action.expect("a played move has an action").index();
        Event { event, action, variant: variant.clone() }
    }

    fn shown(&self, card: Option<rules::Card>) -> Option<Card> {
        card.map(|card| Card::new(card, self.variant.edition()))
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Event) -> bool {
        let of_variant = |event: &Event| (event.variant.players(), event.variant.edition());
        self.event == other.event
            && self.action == other.action
            && of_variant(self) == of_variant(other)
    }
}

impl Hash for Event {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.event.seat, self.action, self.event.card).hash(state);
    }
}

#[pymethods]
impl Event {
    #[getter]
    fn seat(&self) -> u8 {
        self.event.seat.into()
    }

    #[getter]
    fn r#move(&self) -> String {
        self.variant.edition().move_text(self.event.played)
    }

    #[getter]
    fn kind(&self) -> &'static str {
        kind(self.event.played)
    }

    #[getter]
    fn slot(&self) -> Option<u8> {
        self.event.played.slot().map(u8::from)
    }

    #[getter]
    fn target(&self) -> Option<u8> {
        match self.event.played {
            Move::Hint { offset, .. } => {
                Some(self.variant.seat_after(self.event.seat, offset).into())
            }
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
        self.event.touched.iter().map(Slot::index).collect()
    }

    #[getter]
    fn card(&self) -> Option<Card> {
        self.shown(self.event.card)
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
        self.shown(self.event.drawn)
    }

    fn __str__(&self) -> String {
        self.variant.edition().event(&self.event)
    }

    fn __repr__(&self) -> String {
        format!("<Event {}>", self.__str__())
    }

    /// The event of `__reduce__`.
    ///
    /// Raises:
    ///     StarmineError: the variant has no such seat, action, slot or card.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "each is an argument in Python")]
    fn _restored(
        variant: &Variant,
        seat: u8,
        action: i64,
        touched: u8,
        card: Option<Card>,
        added: bool,
        regained: u8,
        drawn: Option<Card>,
    ) -> PyResult<Event> {
        let variant = &variant.0;
        let id = variant.action_id(action);
        let played = id.and_then(|id| variant.action_to_move(id));
        let cards = [card, drawn].map(|card| card.map(Card::rules));
        let slots = SlotSet::first_slots(variant.hand_size().into());
        let seat = variant.seats().find(|&known| u8::from(known) == seat);
        let is_known =
            touched & !slots.0 == 0 && cards.iter().flatten().all(|&card| variant.has_card(card));
        match (played, seat, cards) {
            (Ok(played), Some(seat), [card, drawn]) if is_known => {
                let touched = SlotSet(touched);
                let event = rules::Event { seat, played, touched, card, added, regained, drawn };
                Ok(Event::new(variant, event))
            }
            _ => Err(StarmineError::new_err("the stored event is none of its variant")),
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, RestoreArguments)> {
        let rules::Event { seat, touched, added, regained, .. } = self.event;
        let variant = Variant(self.variant.clone());
        let (card, drawn) = (self.card(), self.drawn());
        let stored = (variant, seat.into(), self.action, touched.0, card, added, regained, drawn);
        Ok((py.get_type::<Event>().getattr("_restored")?, stored))
    }
}
