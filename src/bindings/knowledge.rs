use pyo3::prelude::*;

use super::card::Card;
use crate::rules;

/// What the hints so far say about one card.
///
/// Attributes:
///     plausible: the cards that the hints allow.
///     color: the colour directly hinted, from 0, or None.
///     rank: the rank directly hinted, from 0, or None.
#[pyclass(frozen, get_all, module = "starmine")]
pub struct Knowledge {
    plausible: Vec<Card>,
    color: Option<usize>,
    rank: Option<usize>,
}

impl Knowledge {
    pub(super) fn new(knowledge: rules::Knowledge, variant: &rules::Variant) -> Knowledge {
        let card = |card| Card::new(card, variant.edition());
        Knowledge {
            plausible: knowledge.plausible(variant).map(card).collect(),
            color: knowledge.hinted_suit(variant).map(rules::Suit::index),
            rank: knowledge.hinted_rank(variant).map(rules::Rank::index),
        }
    }
}

#[pymethods]
impl Knowledge {
    fn __repr__(&self) -> String {
        let cards: Vec<String> = self.plausible.iter().map(|card| card.__str__()).collect();
        format!("<Knowledge {}>", cards.join(" "))
    }
}
