//! The Python class `View`: what one seat sees of a game.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

use super::card::Card;
use super::event::Event;
use super::knowledge::Knowledge;
use super::moves::{Move, moves};
use super::variant::Variant;
use crate::bindings::arguments::numbers::{Integer, count, fresh_seed, seat, seed as read_seed};
use crate::bindings::arguments::text::Text;
use crate::bindings::encode::features::{action_mask, encode_view};
use crate::bindings::errors::StarmineError;
use crate::bindings::interruptible::detached;
use crate::encode::Encoder;
use crate::rules::{self, ActionId, Belief, CardSet, GameRng, Offset, Seat, SeenGame, Slot};
use crate::threads::is_stopped;

/// The arguments of `State.view`.
type RestoreArguments<'py> = (Bound<'py, PyAny>, u8);

/// The most hands of one call of `View.sample_hands`, which holds all of them in memory.
const MAX_SAMPLES: usize = 10_000_000;

/// The most hands that are sampled without looking for signals: about 50 milliseconds.
const INTERRUPTIBLE: usize = 1 << 17;

/// Possible hands, one after another, until the call is stopped.
fn sample_hands(belief: &Belief, number: usize, mut rng: GameRng) -> PyResult<Vec<u8>> {
    let mut cards = Vec::new();
    cards.try_reserve_exact(number * belief.slots()).map_err(|_| {
        PyMemoryError::new_err(format!("n={number}: there is no memory for so many hands"))
    })?;
    for _ in 0..number {
        if is_stopped() {
            break;
        }
        let hand = belief.sample_indices(&mut rng).expect("the true hand is possible");
        cards.extend_from_slice(&hand[..belief.slots()]);
    }
    Ok(cards)
}

/// What one seat may see of a state at the time when the view was taken: all hands but its own, the
/// table, and the hints. Offsets are relative to the observer, clockwise: 0 is the observer, 1 the
/// next seat. `State.view` makes one.
///
/// Views are equal if their observers see the same.
#[pyclass(frozen, eq, hash, module = "starmine")]
pub struct View {
    state: rules::State,
    observer: Seat,
}

impl PartialEq for View {
    fn eq(&self, other: &View) -> bool {
        self.observer == other.observer && self.state.is_seen_alike(&other.state, self.observer)
    }
}

impl Hash for View {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let view = self.view();
        (self.observer, self.state.length()).hash(state);
        let hands = view.variant().teammates().map(|offset| view.hand_indices(offset));
        hands.for_each(|hand| hand.hash(state));
    }
}

impl View {
    pub fn new(state: rules::State, observer: Seat) -> View {
        View { state, observer }
    }

    fn view(&self) -> rules::View<'_> {
        self.state.view(self.observer)
    }

    /// The state that is viewed, and the seat that views it. For bots, which get views of it.
    pub fn parts(&self) -> (&rules::State, Seat) {
        (&self.state, self.observer)
    }
}

#[pymethods]
impl View {
    /// The variant that is played.
    #[getter]
    fn variant(&self) -> Variant {
        Variant(self.state.variant().clone())
    }

    /// The seat that the view belongs to.
    #[getter]
    fn observer(&self) -> u8 {
        self.observer.into()
    }

    /// The seat to act.
    #[getter]
    fn current_player(&self) -> u8 {
        self.view().current_player().into()
    }

    /// The hands by offset, the oldest card first; the observer's own cards are None.
    #[getter]
    fn hands(&self) -> Vec<Vec<Option<Card>>> {
        let view = self.view();
        let edition = view.variant().edition();
        let own = vec![None; view.hand_size(Offset::OWN)];
        let hand = |offset| view.hand(offset).map(|card| Some(Card::new(card, edition))).collect();
        std::iter::once(own).chain(view.variant().teammates().map(hand)).collect()
    }

    /// What the hints so far say about the card in a slot of the hand at an offset.
    ///
    /// Raises:
    ///     StarmineError: there is no such offset, or no card in that slot.
    fn knowledge(&self, offset: Integer, slot: Integer) -> PyResult<Knowledge> {
        let view = self.view();
        let variant = view.variant();
        let offset = Offset::new_unchecked(seat("offset", &offset, variant.players())?.index());
        let hand = view.hand_knowledge(offset);
        match usize::try_from(slot.value).ok().and_then(|slot| hand.get(slot)) {
            Some(&knowledge) => Ok(Knowledge::new(knowledge, variant)),
            None => Err(StarmineError::new_err(format!(
                "slot={slot} is not allowed: the hand has {} cards",
                view.hand_size(offset)
            ))),
        }
    }

    /// The cards that each slot of the observer's hand can hold, one list a slot: those that the hints
    /// allow and that occur in at least one hand made of the copies that the observer does not see.
    /// This is exact: a card whose copies are all needed by the other slots is not possible.
    #[getter]
    fn possible(&self) -> Vec<Vec<Card>> {
        let view = self.view();
        let (variant, belief) = (view.variant(), Belief::new(&view));
        let cards = |slot| {
            let cards = belief.possible(slot).iter();
            cards.map(|card| Card::new(variant.card(card), variant.edition())).collect()
        };
        (0..belief.slots()).map(Slot::new_unchecked).map(cards).collect()
    }

    /// The probability of each card in each slot of the observer's hand: float64 (cards in the hand,
    /// colors * ranks). Column `suit * ranks + rank` is that card. Each row sums to 1.
    ///
    /// These are the exact marginals over all hands that the hints allow and that are made of copies
    /// which the observer does not see, all choices of copies being equally likely. They do not use
    /// what the teammates' choices tell.
    fn marginals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let view = self.view();
        let (kinds, belief) = (view.variant().num_card_kinds(), Belief::new(&view));
        let mut rows = vec![0.0; belief.slots() * kinds];
        belief.write_marginals(&mut rows);
        rows.into_pyarray(py).reshape([belief.slots(), kinds])
    }

    /// Draws hands of the observer, with replacement, uniformly from those that `marginals` counts.
    ///
    /// Args:
    ///     n: number of hands, at most 10,000,000.
    ///     seed: 0 to 2**64 - 1; None for a random one. The same seed gives the same hands, and a
    ///         larger `n` only adds hands.
    ///
    /// Returns:
    ///     uint8 (n, cards in the hand): `suit * ranks + rank` of each card, the oldest first.
    ///
    /// Raises:
    ///     StarmineError: `n` or the seed is out of range.
    ///     MemoryError: there is no memory for so many hands.
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
        let sample = || sample_hands(&belief, number, rng);
        let cards = detached(number > INTERRUPTIBLE, py, sample)??;
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

    /// How the game ended, one of `starmine.endings()`, or None while it goes on.
    #[getter]
    fn ending(&self) -> Option<&'static str> {
        self.view().ending().map(rules::Ending::name)
    }

    /// The number of turns left in the last round. None while the deck has cards, and in variants without a last round.
    #[getter]
    fn turns_left(&self) -> Option<u8> {
        self.view().turns_left()
    }

    /// An upper bound of the final score. In each suit it counts the cards below the first one whose copies are all
    /// discarded. With a last round it is at most the sum of the fireworks plus the turns on which a card can still be
    /// played. After the end it is the score.
    #[getter]
    fn reachable_score(&self) -> u8 {
        self.view().reachable_score()
    }

    /// A dict of lists of `Card`: "playable", next on its firework; "critical", still needed, with one copy left; and
    /// "dead", which can never be played again. A card can be playable and critical.
    fn outlook(&self) -> BTreeMap<&'static str, Vec<Card>> {
        let view = self.view();
        let (variant, outlook) = (view.variant(), view.outlook());
        let cards = |set: CardSet| {
            set.iter().map(|index| Card::new(variant.card(index), variant.edition())).collect()
        };
        BTreeMap::from([
            ("playable", cards(outlook.playable)),
            ("critical", cards(outlook.critical)),
            ("dead", cards(outlook.dead)),
        ])
    }

    /// The discarded and misplayed cards, the oldest first.
    #[getter]
    fn discard_pile(&self) -> Vec<Card> {
        let edition = self.state.variant().edition();
        self.state.discard_pile().map(|card| Card::new(card, edition)).collect()
    }

    /// The turns played so far, the oldest first. The cards that the observer drew are hidden.
    #[getter]
    fn history(&self) -> Vec<Event> {
        let view = self.view();
        let turns = view.history().into_iter().flatten();
        turns.map(|event| Event::new(self.state.variant(), event)).collect()
    }

    /// The observer's legal action ids; none when another seat is to act.
    fn legal_actions(&self) -> Vec<usize> {
        self.view().legal_actions().iter().map(ActionId::index).collect()
    }

    /// The observer's legal moves, in the order of `legal_actions`.
    fn legal_moves(&self) -> Vec<Move> {
        moves(self.state.variant(), self.view().legal_actions())
    }

    /// Whether each action is legal for the observer: bool (num_actions,); all False when another
    /// seat is to act.
    fn legal_action_mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        action_mask(self.state.variant(), self.view().legal_actions()).into_pyarray(py)
    }

    /// The encoded observation of the observer: uint8 (D,) of zeros and ones.
    ///
    /// Raises:
    ///     UnknownNameError: there is no such encoder.
    ///     StarmineError: the encoder shows the observer's own hand, which a view hides.
    #[pyo3(signature = (encoder=Text::from("canonical")), text_signature = "($self, encoder='canonical')")]
    fn encode<'py>(&self, py: Python<'py>, encoder: Text) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let encoder = encoder.parse::<Encoder>()?;
        if encoder.shows_own_hand() {
            let name = encoder.name();
            return Err(StarmineError::new_err(format!(
                "encoder={name:?} shows the observer's own hand, which a view hides: use State.encode"
            )));
        }
        Ok(encode_view(encoder, self.state.seer_view(self.observer)).into_pyarray(py))
    }

    /// The table as the observer may see it; its own cards are ??.
    fn __str__(&self) -> String {
        self.view().to_string()
    }

    fn __repr__(&self) -> String {
        format!("<View of seat {} after {} turns>", self.observer, self.state.length())
    }

    /// A pickle holds what the seat sees: in the place of its own hand and of the rest of the deck it has other cards,
    /// which the seat cannot tell from these.
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, RestoreArguments<'py>)> {
        let seen = SeenGame::of(&self.state, self.observer).stand_in();
        let seen = seen.into_pyobject(py)?.into_any();
        Ok((seen.get_type().getattr("view")?, (seen, self.observer.into())))
    }
}
