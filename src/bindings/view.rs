use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

use super::card::Card;
use super::errors::StarmineError;
use super::event::Event;
use super::numbers::{Integer, count, fresh_seed, seat, seed as read_seed};
use super::variant::Variant;
use crate::encode::{self, Encoder};
use crate::rules::{self, ActionSet, Belief, GameRng, Sight};

/// The mask of a set of actions.
pub(super) fn action_mask(variant: &rules::Variant, legal: ActionSet) -> Vec<bool> {
    (0..variant.num_actions()).map(|action| legal.contains(action)).collect()
}

/// Most hands in one call of `View.sample_hands`, which holds them all.
const MAX_SAMPLES: usize = 10_000_000;

/// So many possible hands, one after the other.
fn sample_hands(belief: &Belief, number: usize, mut rng: GameRng) -> PyResult<Vec<u8>> {
    let mut cards = Vec::new();
    cards.try_reserve_exact(number * belief.slots()).map_err(|_| {
        PyMemoryError::new_err(format!("n={number}: there is no memory for so many hands"))
    })?;
    for _ in 0..number {
        let hand = belief.sample(&mut rng).expect("the true hand is possible");
        cards.extend_from_slice(&hand[..belief.slots()]);
    }
    Ok(cards)
}

/// One byte for each feature.
pub(super) fn encode_view(encoder: &dyn Encoder, view: rules::View<'_>) -> Vec<u8> {
    let layout = encoder.layout(view.variant());
    let mut words = vec![0; layout.words()];
    encode::encode_into(encoder, view, &mut words);
    (0..layout.len()).map(|bit| (words[bit / 64] >> (bit % 64) & 1) as u8).collect()
}

/// What the hints given so far say about one card.
///
/// Attributes:
///     plausible: the cards that hints alone leave open.
///     color: the colour directly hinted, from 0, or None.
///     rank: the rank directly hinted, from 0, or None.
#[pyclass(frozen, get_all, module = "starmine")]
pub struct Knowledge {
    plausible: Vec<Card>,
    color: Option<usize>,
    rank: Option<usize>,
}

#[pymethods]
impl Knowledge {
    fn __repr__(&self) -> String {
        let cards: Vec<String> = self.plausible.iter().map(|card| card.__str__()).collect();
        format!("<Knowledge {}>", cards.join(" "))
    }
}

/// What one seat may see of a state, as it was when the view was taken: every hand but its own,
/// the table, and what hints have said. Offsets are relative to the observer, clockwise: 0 is the
/// observer, 1 the next seat. `State.view` makes one.
#[pyclass(frozen, module = "starmine")]
pub struct View {
    state: rules::State,
    observer: usize,
}

impl View {
    pub(super) fn new(state: rules::State, observer: usize) -> View {
        View { state, observer }
    }

    fn view(&self) -> rules::View<'_> {
        self.state.view(self.observer)
    }
}

#[pymethods]
impl View {
    /// The rules that are played.
    #[getter]
    fn variant(&self) -> Variant {
        Variant(self.state.variant().clone())
    }

    /// The seat that the view belongs to.
    #[getter]
    fn observer(&self) -> usize {
        self.observer
    }

    /// The seat to act.
    #[getter]
    fn current_player(&self) -> usize {
        self.view().current_player()
    }

    /// The hands by offset, the oldest card first; the observer's own cards are None.
    #[getter]
    fn hands(&self) -> Vec<Vec<Option<Card>>> {
        let view = self.view();
        let hand = |offset| match offset {
            0 => vec![None; view.hand_size(0)],
            _ => view
                .hand(offset)
                .map(|card| Some(Card::new(card, view.variant().edition())))
                .collect(),
        };
        (0..view.variant().players().into()).map(hand).collect()
    }

    /// What hints have said about the card in a slot of the hand at an offset.
    ///
    /// Raises:
    ///     StarmineError: there is no such offset, or no card in that slot.
    fn knowledge(&self, offset: Integer, slot: Integer) -> PyResult<Knowledge> {
        let view = self.view();
        let variant = view.variant();
        let offset = seat("offset", &offset, variant.players())?;
        let size = view.hand_size(offset);
        let found = &slot;
        let slot =
            usize::try_from(slot.value).ok().filter(|&slot| slot < size).ok_or_else(|| {
                StarmineError::new_err(format!(
                    "slot={found} is not allowed: the hand has {size} cards"
                ))
            })?;
        let knowledge = view.knowledge(offset, slot);
        Ok(Knowledge {
            plausible: knowledge
                .plausible(variant)
                .map(|card| Card::new(card, variant.edition()))
                .collect(),
            color: knowledge.hinted_suit(variant).map(rules::Suit::index),
            rank: knowledge.hinted_rank(variant).map(rules::Rank::index),
        })
    }

    /// The cards that each own slot can hold, a list for each slot: those that the hints leave
    /// plausible, and that are in some hand made of the copies that are not seen elsewhere. Exact: a
    /// card is not possible either when the other slots need all its copies.
    #[getter]
    fn possible(&self) -> Vec<Vec<Card>> {
        let view = self.view();
        let (variant, belief) = (view.variant(), Belief::new(&view));
        let cards = |slot| {
            let possible = belief.possible(slot);
            let kinds = variant.card_kinds().enumerate();
            let cards = kinds.filter(|&(kind, _)| possible.contains(kind));
            cards.map(|(_, card)| Card::new(card, variant.edition())).collect()
        };
        (0..belief.slots()).map(cards).collect()
    }

    /// The probability of each card in each own slot: float64 (cards in the hand, colors * ranks),
    /// where the card of a column is `suit * ranks + rank`. Each row sums to 1.
    ///
    /// These are the exact marginals over all hands of copies that are not seen elsewhere and fit
    /// the hints, each choice of copies as likely as another. What could be learned from the
    /// partners' choices is not in them.
    fn marginals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let view = self.view();
        let (kinds, belief) = (view.variant().num_card_kinds(), Belief::new(&view));
        let mut rows = vec![0.0; belief.slots() * kinds];
        belief.write_marginals(&mut rows);
        rows.into_pyarray(py).reshape([belief.slots(), kinds])
    }

    /// Whole own hands, drawn uniformly from those that `marginals` counts, with replacement.
    ///
    /// Args:
    ///     n: number of hands, at most 10,000,000.
    ///     seed: the same hands for the same seed, the first of them whatever `n` is; None takes a
    ///         seed from the operating system.
    ///
    /// Returns:
    ///     uint8 (n, cards in the hand): `suit * ranks + rank` of each card, the oldest first.
    ///
    /// Raises:
    ///     StarmineError: `n` or the seed is out of range.
    #[pyo3(signature = (n, seed=None))]
    fn sample_hands<'py>(
        &self,
        py: Python<'py>,
        n: Integer,
        seed: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<u8>>> {
        let number = count("n", &n, 0..=MAX_SAMPLES)?;
        let rng = GameRng::for_samples(seed.map_or_else(|| Ok(fresh_seed()), read_seed)?);
        let belief = Belief::new(&self.view());
        let cards = py.detach(|| sample_hands(&belief, number, rng))?;
        cards.into_pyarray(py).reshape([number, belief.slots()])
    }

    /// Height of each firework, by suit.
    #[getter]
    fn fireworks(&self) -> Vec<usize> {
        self.view().fireworks().iter().map(|&height| height.into()).collect()
    }

    /// Information tokens left.
    #[getter]
    fn information_tokens(&self) -> u8 {
        self.view().information_tokens()
    }

    /// Life tokens left.
    #[getter]
    fn life_tokens(&self) -> u8 {
        self.view().life_tokens()
    }

    /// Cards left in the deck.
    #[getter]
    fn deck_size(&self) -> u8 {
        self.view().deck_size()
    }

    /// The score so far.
    #[getter]
    fn score(&self) -> u8 {
        self.view().score()
    }

    /// The discarded and misplayed cards in the order in which they came.
    #[getter]
    fn discard_pile(&self) -> Vec<Card> {
        let edition = self.state.variant().edition();
        self.state.discard_pile().map(|card| Card::new(card, edition)).collect()
    }

    /// The turns played so far, the oldest first; what the observer itself drew is hidden.
    #[getter]
    fn history(&self) -> Vec<Event> {
        let view = self.view();
        view.history().map(|event| Event::new(view.variant(), event)).collect()
    }

    /// The observer's legal action ids; none when another seat is to act.
    fn legal_actions(&self) -> Vec<usize> {
        self.view().legal_actions().iter().collect()
    }

    /// Whether each action is legal for the observer now: bool (num_actions,).
    fn legal_action_mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        action_mask(self.state.variant(), self.view().legal_actions()).into_pyarray(py)
    }

    /// The observer's encoded observation: uint8 (D,), each 0 or 1.
    ///
    /// Raises:
    ///     UnknownNameError: there is no such encoder.
    ///     StarmineError: the encoder shows the observer's own hand, which a view hides.
    #[pyo3(signature = (encoder="canonical"))]
    fn encode<'py>(&self, py: Python<'py>, encoder: &str) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let encoder = encode::encoder(encoder)?;
        if encoder.sight() != Sight::Seat {
            let name = encoder.name();
            return Err(StarmineError::new_err(format!(
                "encoder={name:?} shows the observer's own hand, which a view hides: use State.encode"
            )));
        }
        Ok(encode_view(encoder, self.view()).into_pyarray(py))
    }

    fn __repr__(&self) -> String {
        format!("<View of seat {} after {} turns>", self.observer, self.state.length())
    }
}
