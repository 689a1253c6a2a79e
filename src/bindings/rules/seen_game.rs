//! A game as one seat sees it, for the Python class `SeenGame`.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::card::Card;
use super::event::Event;
use super::state::State;
use super::variant::Variant;
use crate::bindings::arguments::listed::Listed;
use crate::bindings::arguments::numbers::{Integer, count, seat};
use crate::bindings::encode::view_rows::{ViewRequest, pairs, rows};
use crate::bindings::errors::StarmineError;
use crate::rules::{self, MAX_HAND_SIZE, Move, Revealed, SeenGame, Slot, SlotSet};

/// A game as one seat sees it, at a table that somebody else runs. It never changes: a turn gives another one.
///
/// Attributes:
///     variant: the rules.
///     observer: the seat that sees the game.
///     current_player: the seat to act; after the end, the seat that would have been next.
///     ending: one of `starmine.endings()`, or None while the game goes on.
///     length: the number of turns so far.
#[pyclass(frozen, module = "starmine._core")]
pub struct _SeenGame(SeenGame);

#[pymethods]
impl _SeenGame {
    /// The game before its first turn. `hands` are the hands of the teammates, beginning with the next seat.
    ///
    /// Raises:
    ///     StarmineError: there is no such seat, or the hands are not those of a deal.
    #[new]
    fn new(
        variant: &Variant,
        observer: Integer,
        hands: Listed<Listed<Card>>,
        start_player: Integer,
    ) -> PyResult<_SeenGame> {
        let players = variant.0.players();
        let observer = seat("observer", &observer, players)?;
        let start = seat("start_player", &start_player, players)?;
        let hand = |hand: Listed<Card>| hand.into_iter().map(Card::rules).collect();
        let hands: Vec<Vec<rules::Card>> = hands.into_iter().map(hand).collect();
        Ok(_SeenGame(SeenGame::new(variant.0.clone(), observer, &hands, start)?))
    }

    /// What a seat sees of the game of a state.
    ///
    /// Raises:
    ///     StarmineError: there is no such seat.
    #[staticmethod]
    fn of(state: PyRef<'_, State>, observer: Integer) -> PyResult<_SeenGame> {
        let observer = seat("observer", &observer, state.rules().variant().players())?;
        Ok(_SeenGame(SeenGame::of(state.rules(), observer)))
    }

    #[getter]
    fn variant(&self) -> Variant {
        Variant(self.0.variant().clone())
    }

    #[getter]
    fn observer(&self) -> u8 {
        self.0.observer().into()
    }

    #[getter]
    fn current_player(&self) -> u8 {
        self.0.current_player().into()
    }

    #[getter]
    fn ending(&self) -> Option<&'static str> {
        self.0.ending().map(rules::Ending::name)
    }

    #[getter]
    fn length(&self) -> usize {
        self.0.history().len()
    }

    /// The last turn; None before the first one.
    #[getter]
    fn last_event(&self) -> Option<Event> {
        self.0.history().last().map(|&event| Event::new(self.0.variant(), event))
    }

    /// The game after a turn of the seat to act, with what the table shows of it.
    ///
    /// Args:
    ///     action: the action id of the seat to act.
    ///     card: the card that was played or discarded. It may be left out in a teammate's turn.
    ///     drawn: the card that a teammate has drawn; None if nobody or the observer has drawn.
    ///     touched: the slots of the cards that a hint matches, none after other moves. They may be left out for a
    ///         teammate's hand.
    ///
    /// Raises:
    ///     StarmineError: no game goes on like this.
    #[pyo3(signature = (action, card, drawn, touched))]
    fn played(
        &self,
        action: Integer,
        card: Option<Card>,
        drawn: Option<Card>,
        touched: Option<Listed<Integer>>,
    ) -> PyResult<_SeenGame> {
        let variant = self.0.variant();
        let played = variant.action_id(action.value).and_then(|id| variant.action_to_move(id));
        let played = played.map_err(|error| StarmineError::new_err(action.explain(error)))?;
        let touched = touched.map(|slots| read_slots(&slots)).transpose()?;
        let mut game = self.0.clone();
        let revealed = self.revealed(played, card, drawn, touched)?;
        let event = game.play(played, revealed)?;
        check_shown(variant, &event, card, touched)?;
        Ok(_SeenGame(game))
    }

    /// The game as it was after its first turns.
    ///
    /// Raises:
    ///     StarmineError: there were fewer turns.
    fn first_turns(&self, number: Integer) -> PyResult<_SeenGame> {
        let number = count("number", &number, 0..=self.0.history().len())?;
        Ok(_SeenGame(self.0.first_turns(number).expect("there were as many turns")))
    }

    /// A game that the observer cannot tell from this one: in the place of the cards that it does not see, the state
    /// has other cards. Equal games have equal ones.
    fn stand_in(&self) -> rules::State {
        self.0.stand_in()
    }

    /// What the observer sees: `games` are zeros and `seats` the observer, int64 (K,) each; `wanted` is as
    /// `Batch._rows` takes it.
    fn _rows<'py>(
        &self,
        py: Python<'py>,
        games: &Bound<'py, PyAny>,
        seats: &Bound<'py, PyAny>,
        wanted: ViewRequest,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (variant, observer) = (self.0.variant(), self.0.observer());
        let pairs = pairs(games, seats, 1, variant.players())?;
        if let Some((_, seat)) = pairs.iter().find(|(_, seat)| *seat != observer) {
            return Err(StarmineError::new_err(format!(
                "seat {seat} is not the observer: expected seat {observer}"
            )));
        }
        rows(py, variant, &wanted, pairs.len(), |_| (*self.0.position(), observer))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (rules::State, u8))> {
        let stored = (self.0.stand_in(), self.observer());
        Ok((py.get_type::<_SeenGame>().getattr("of")?, stored))
    }
}

impl _SeenGame {
    /// The event of a turn, made of the cards and slots that the table tells.
    fn revealed(
        &self,
        played: Move,
        card: Option<Card>,
        drawn: Option<Card>,
        touched: Option<SlotSet>,
    ) -> PyResult<Revealed> {
        let (variant, seat) = (self.0.variant(), self.0.current_player());
        let observer = self.0.observer();
        if let Move::Hint { offset, .. } = played {
            refuse_card("card", card, "a hint shows no card")?;
            refuse_card("drawn", drawn, "nobody draws after a hint")?;
            let is_own = seat != observer && variant.seat_after(seat, offset) == observer;
            return match touched {
                Some(touched) if is_own => Ok(Revealed::Touched(touched)),
                None if is_own => Err(StarmineError::new_err(
                    "touched is missing: expected the slots of the observer's cards that the hint points out",
                )),
                _ => Ok(Revealed::Nothing),
            };
        }
        if touched.is_some_and(|slots| slots != SlotSet::default()) {
            return Err(StarmineError::new_err("touched is only for hints: expected None"));
        }
        if seat == observer {
            refuse_card("drawn", drawn, "the observer does not see the cards that it draws")?;
            return card.map(|card| Revealed::OwnCard(card.rules())).ok_or_else(|| {
                StarmineError::new_err(
                    "card is missing: expected the card that left the observer's hand",
                )
            });
        }
        if self.0.position().deck_size == 0 {
            refuse_card("drawn", drawn, "the deck is empty")?;
            return Ok(Revealed::Nothing);
        }
        drawn.map(|card| Revealed::Drawn(card.rules())).ok_or_else(|| {
            StarmineError::new_err(format!(
                "drawn is missing: expected the card that seat {seat} has drawn"
            ))
        })
    }
}

/// Refuses a card where there is none.
fn refuse_card(name: &str, card: Option<Card>, reason: &str) -> PyResult<()> {
    match card {
        None => Ok(()),
        Some(card) => Err(StarmineError::new_err(format!(
            "{name}={} is not allowed: {reason}; expected None",
            card.__str__()
        ))),
    }
}

/// Checks what the table shows of a turn and the observer has seen itself.
fn check_shown(
    variant: &rules::Variant,
    event: &rules::Event,
    card: Option<Card>,
    touched: Option<SlotSet>,
) -> PyResult<()> {
    let edition = variant.edition();
    if let (Some(card), Some(left)) = (card, event.card)
        && card.rules() != left
    {
        return Err(StarmineError::new_err(format!(
            "card={} is not allowed: expected {}, the card in that slot",
            card.__str__(),
            edition.card(left)
        )));
    }
    let listed = |slots: SlotSet| slots.iter().map(Slot::index).collect::<Vec<_>>();
    match touched {
        Some(slots) if slots != event.touched => Err(StarmineError::new_err(format!(
            "touched={:?} is not allowed: expected {:?}, the slots of the cards that the hint matches",
            listed(slots),
            listed(event.touched)
        ))),
        _ => Ok(()),
    }
}

/// The slots of one hand.
fn read_slots(slots: &[Integer]) -> PyResult<SlotSet> {
    let read = |slot| count("touched", slot, 0..=MAX_HAND_SIZE - 1).map(Slot::new_unchecked);
    slots.iter().map(read).collect()
}
