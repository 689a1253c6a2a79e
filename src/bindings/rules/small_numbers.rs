//! A `State` as small numbers, of which `starmine.hle` makes its dictionaries and lists.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList};

use super::state::State;
use crate::bindings::arguments::numbers::{Integer, seat};
use crate::bindings::arguments::text::Text;
use crate::encode::Encoder;
use crate::rules::{self, BitIndices, Card};

#[pymethods]
impl State {
    /// The numbers of the cards, suit * ranks + rank: of each seat's hand, the oldest card first, and
    /// of the discard pile.
    fn _card_numbers<'py>(
        &self,
        py: Python<'py>,
    ) -> (Vec<Bound<'py, PyBytes>>, Bound<'py, PyBytes>) {
        let (variant, position) = (self.rules().variant(), self.rules().position());
        let numbers = |cards: &mut dyn Iterator<Item = Card>| {
            let numbers: Vec<u8> = cards.map(|card| variant.card_index(card) as u8).collect();
            PyBytes::new(py, &numbers)
        };
        let hand = |seat| numbers(&mut position.hand(variant, seat));
        let hands = variant.seats().map(hand).collect();
        (hands, numbers(&mut self.rules().discard_pile()))
    }

    /// What hints named of each card of each seat's hand: a number for the colour, or the number of
    /// colours where no hint named it, times ranks + 1, plus the same for the rank.
    fn _named_by_hints<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let variant = self.rules().variant();
        let (colors, ranks) = (usize::from(variant.colors()), usize::from(variant.ranks()));
        let view = self.rules().view(rules::Seat::default());
        let named = |known: &rules::Knowledge| {
            let suit = known.hinted_suit(variant).map_or(colors, rules::Suit::index);
            let rank = known.hinted_rank(variant).map_or(ranks, rules::Rank::index);
            (suit * (ranks + 1) + rank) as u8
        };
        let hand = |seat| {
            let hints = view.hand_knowledge(view.offset(seat));
            let numbers: Vec<u8> = hints.iter().map(named).collect();
            PyBytes::new(py, &numbers)
        };
        variant.seats().map(hand).collect()
    }
    /// `encode` as a list.
    fn _encode_list<'py>(
        &self,
        py: Python<'py>,
        observer: Integer,
        encoder: Text,
    ) -> PyResult<Bound<'py, PyList>> {
        let observer = seat("observer", &observer, self.rules().variant().players())?;
        let encoder = encoder.parse::<Encoder>()?;
        let layout = encoder.layout(self.rules().variant());
        let mut words = vec![0; layout.words()];
        encoder.encode_into(&self.rules().seer_view(observer), &mut words);
        // Most are zeros, which all are at first.
        let list =
            PyList::new(py, [0])?.as_sequence().repeat(layout.len())?.cast_into::<PyList>()?;
        let one = PyInt::new(py, 1);
        for (index, word) in words.into_iter().enumerate() {
            for bit in BitIndices(word) {
                list.set_item(64 * index + bit, &one)?;
            }
        }
        Ok(list)
    }
}
