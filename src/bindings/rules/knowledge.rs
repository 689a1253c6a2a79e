//! The Python class `Knowledge`: what hints have told about one card.

use pyo3::prelude::*;

use super::card::Card;
use crate::bindings::arguments::listed::Listed;
use crate::rules;

/// The arguments of `Knowledge._restored`.
type RestoreArguments = (Vec<Card>, Option<usize>, Option<usize>);

/// What the hints so far say about one card.
///
/// Attributes:
///     plausible: the cards that the hints allow.
///     color: the colour directly hinted, from 0, or None.
///     rank: the rank directly hinted, from 0, or None.
#[pyclass(frozen, eq, hash, get_all, module = "starmine")]
#[derive(PartialEq, Hash)]
pub struct Knowledge {
    plausible: Vec<Card>,
    color: Option<usize>,
    rank: Option<usize>,
}

impl Knowledge {
    pub fn new(knowledge: rules::Knowledge, variant: &rules::Variant) -> Knowledge {
        let card = |index| Card::new(variant.card(index), variant.edition());
        Knowledge {
            plausible: knowledge.plausible(variant).iter().map(card).collect(),
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

    /// The knowledge of `__reduce__`.
    #[staticmethod]
    fn _restored(plausible: Listed<Card>, color: Option<usize>, rank: Option<usize>) -> Knowledge {
        Knowledge { plausible: plausible.into_iter().collect(), color, rank }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, RestoreArguments)> {
        let stored = (self.plausible.clone(), self.color, self.rank);
        Ok((py.get_type::<Knowledge>().getattr("_restored")?, stored))
    }
}
