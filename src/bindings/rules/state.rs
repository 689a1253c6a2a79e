//! The Python class `State`: one game in progress.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::card::Card;
use super::event::Event;
use super::moves::{Move, moves};
use super::variant::Variant;
use super::view::View;
use crate::bindings::arguments::numbers::{self, Integer, fresh_seed, seat, seed as read_seed};
use crate::bindings::arguments::text::Text;
use crate::bindings::bots::player::read_player;
use crate::bindings::encode::features::{action_mask, encode_view};
use crate::bindings::encode::view_rows::{ViewRequest, pairs, rows};
use crate::bindings::errors::{SerializationError, illegal_action};
use crate::bindings::interruptible::{ask, detached};
use crate::bots::SeatedPlayer;
use crate::encode::Encoder;
use crate::rules::{self, ActionId, Belief, GameRng, SeenGame};
use crate::threads::is_stopped;

/// The most worlds of one call: each is a whole state, of about a kilobyte.
const MAX_WORLDS: usize = 100_000;

/// The most worlds that are drawn without looking for signals.
const FEW_WORLDS: usize = 1 << 10;

/// One game in progress with everything in it: all hands, the order of the deck and all past turns.
/// `Variant.new_game` deals one.
///
/// >>> import starmine
/// >>> state = starmine.Variant().new_game(seed=7)
/// >>> while not state.is_terminal:
/// ...     reward = state.apply(state.legal_actions()[0])
/// >>> state.ending in starmine.endings()
/// True
#[pyclass(eq, module = "starmine")]
#[derive(Clone, PartialEq)]
pub struct State {
    state: rules::State,
}

/// A state of the engine becomes a `State` wherever a method returns one to Python.
impl<'py> IntoPyObject<'py> for rules::State {
    type Target = State;
    type Output = Bound<'py, State>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, State>> {
        Bound::new(py, State { state: self })
    }
}

impl State {
    pub fn rules(&self) -> &rules::State {
        &self.state
    }

    fn cards(&self, cards: impl Iterator<Item = rules::Card>) -> Vec<Card> {
        let edition = self.state.variant().edition();
        cards.map(|card| Card::new(card, edition)).collect()
    }
}

#[pymethods]
impl State {
    /// The variant that is played.
    #[getter]
    fn variant(&self) -> Variant {
        Variant(self.state.variant().clone())
    }

    /// The seat to act; after the end, the seat that would have been next.
    #[getter]
    fn current_player(&self) -> u8 {
        self.state.current_player().into()
    }

    /// The seat that started.
    #[getter]
    fn start_player(&self) -> u8 {
        self.state.start_player().into()
    }

    /// The score so far. The variant's `lost_game_score` decides that of a lost game.
    #[getter]
    fn score(&self) -> u8 {
        self.state.score()
    }

    /// Height of each firework, by suit.
    #[getter]
    fn fireworks(&self) -> Vec<usize> {
        let heights = self.state.position().fireworks(self.state.variant());
        heights.iter().map(|&height| height.into()).collect()
    }

    /// Information tokens left.
    #[getter]
    fn information_tokens(&self) -> u8 {
        self.state.position().information_tokens
    }

    /// Life tokens left.
    #[getter]
    fn life_tokens(&self) -> u8 {
        self.state.position().life_tokens
    }

    /// Cards left in the deck.
    #[getter]
    fn deck_size(&self) -> u8 {
        self.state.position().deck_size
    }

    /// The whole deck before the deal, the top card first.
    #[getter]
    fn deck(&self) -> Vec<Card> {
        self.cards(self.state.deck().iter().copied())
    }

    /// The discarded and misplayed cards, the oldest first.
    #[getter]
    fn discard_pile(&self) -> Vec<Card> {
        self.cards(self.state.discard_pile())
    }

    /// Every seat's hand, the oldest card first.
    #[getter]
    fn hands(&self) -> Vec<Vec<Card>> {
        let variant = self.state.variant();
        let hand = |seat| self.cards(self.state.position().hand(variant, seat));
        variant.seats().map(hand).collect()
    }

    /// Whether the game is over.
    #[getter]
    fn is_terminal(&self) -> bool {
        self.state.ending().is_some()
    }

    /// How the game ended, one of `starmine.endings()`, or None while it goes on.
    #[getter]
    fn ending(&self) -> Option<&'static str> {
        self.state.ending().map(rules::Ending::name)
    }

    /// Number of turns played so far.
    #[getter]
    fn length(&self) -> usize {
        self.state.length()
    }

    /// The turns played so far, the oldest first.
    #[getter]
    fn history(&self) -> Vec<Event> {
        let event = |event: &rules::Event| Event::new(self.state.variant(), *event);
        self.state.history().iter().map(event).collect()
    }

    /// The legal action ids of the seat to act in ascending order; none once the game is over.
    fn legal_actions(&self) -> Vec<usize> {
        self.state.legal_actions().iter().map(ActionId::index).collect()
    }

    /// The legal moves of the seat to act, in the order of `legal_actions`.
    fn legal_moves(&self) -> Vec<Move> {
        moves(self.state.variant(), self.state.legal_actions())
    }

    /// What a bot would do now in the place of the seat to act.
    ///
    /// The bot follows the game from the first turn as if it had held this seat, even if another
    /// player did. A bot that searches does not repeat the searches of past turns. Its random
    /// samples of its own hand may therefore differ from those in `play_games`. Other Python
    /// threads run meanwhile, and Ctrl-C ends the call.
    ///
    /// Args:
    ///     bot: any text that `play_games` takes, or the result of `load_policy`; also a bot that sees
    ///         all hands.
    ///     seed: of the bot's random choices, 0 to 2**64 - 1. They are those of game 0 of
    ///         `play_games` with this seed.
    ///
    /// Returns:
    ///     The action id, which `apply` takes.
    ///
    /// Raises:
    ///     UnknownNameError: there is no such bot.
    ///     VariantError: the bot does not play the variant.
    ///     StarmineError: the game is over, or a seed out of range.
    ///
    /// >>> import starmine
    /// >>> state = starmine.Variant().new_game(seed=7)
    /// >>> state.variant.move(state.suggest("smart")) in state.legal_moves()
    /// True
    #[pyo3(signature = (bot, seed=None), text_signature = "($self, bot, seed=0)")]
    fn suggest(
        this: &Bound<'_, State>,
        bot: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let seed = seed.map_or(Ok(0), read_seed)?;
        // A copy, since other threads may play a turn meanwhile.
        let state = this.borrow().state.clone();
        let player = read_player("bot", bot)?.player(state.variant())?;
        let seat = state.position().current_player;
        ask(this.py(), &mut SeatedPlayer::new(player, seat, seed), &state)
    }

    /// Whether each action is legal: bool (num_actions,).
    fn legal_action_mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        action_mask(self.state.variant(), self.state.legal_actions()).into_pyarray(py)
    }

    /// Plays one turn.
    ///
    /// Args:
    ///     action: an action id, a `Move`, or a move's text such as "play 2".
    ///
    /// Returns:
    ///     The reward: the change of the score.
    ///
    /// Raises:
    ///     IllegalActionError: the game is over or the action is not legal; nothing has changed.
    ///     NotationError: the text is not a move.
    ///     RuntimeError: another call of this state is reading its arguments.
    fn apply(this: &Bound<'_, State>, action: &Bound<'_, PyAny>) -> PyResult<i16> {
        // Reading it may call Python, which may use this state.
        let variant = this.borrow().variant();
        let action = variant.read_action(action)?;
        let applied = this.try_borrow_mut()?.state.apply_number(action.value);
        applied.map_err(|error| illegal_action(&error, action.explain(&error)))
    }

    /// An independent state with the same deck.
    fn copy(&self) -> State {
        self.clone()
    }

    /// worlds(count=1, *, seed=None, observer=None)
    ///
    /// Draws worlds: states with the same past turns, as far as one seat can tell, in which that seat's
    /// hand and the order of the deck are drawn anew. All assignments of the unseen cards that the hints
    /// allow are equally likely, as in `View.sample_hands`. `Batch.worlds` draws worlds of many games; the
    /// same seed gives other worlds there.
    ///
    /// Args:
    ///     count: number of worlds, 1 to 100,000; `Batch.worlds` holds more.
    ///     seed: 0 to 2**64 - 1; None for a random one.
    ///     observer: the seat whose hand is drawn anew; None for the seat to act.
    ///
    /// Raises:
    ///     StarmineError: a number out of range.
    ///
    /// >>> import starmine
    /// >>> state = starmine.Variant().new_game(seed=7)
    /// >>> all(world.view(0) == state.view(0) for world in state.worlds(10, seed=1))
    /// True
    #[pyo3(signature = (count=None, *, seed=None, observer=None), text_signature = "($self, count=1, *, seed=None, observer=None)")]
    fn worlds(
        slf: &Bound<'_, Self>,
        count: Option<Integer>,
        seed: Option<&Bound<'_, PyAny>>,
        observer: Option<Integer>,
    ) -> PyResult<Vec<State>> {
        let number =
            count.map_or(Ok(1), |given| numbers::count("count", &given, 1..=MAX_WORLDS))?;
        let mut rng = GameRng::for_samples(seed.map_or_else(|| Ok(fresh_seed()), read_seed)?);
        let state = slf.borrow().state.clone(); // others may play on meanwhile
        let players = state.variant().players();
        let observer = observer.map(|given| self::seat("observer", &given, players)).transpose()?;
        let observer = observer.unwrap_or(state.current_player());
        let game = SeenGame::of(&state, observer);
        let belief = Belief::new(&game.view());
        detached(number > FEW_WORLDS, slf.py(), || {
            let draw = |_| {
                let hand = belief.sample(&mut rng).expect("the true hand is possible");
                let state = game.with_hand(hand, &mut rng);
                State { state: state.expect("the hand is a possible one") }
            };
            (0..number).take_while(|_| !is_stopped()).map(draw).collect()
        })
    }

    /// The encoded observation of a seat: uint8 (D,) of zeros and ones, where D is
    /// `len(state.variant.layout(encoder))`.
    ///
    /// Raises:
    ///     StarmineError: there is no such seat.
    ///     UnknownNameError: there is no such encoder.
    #[pyo3(signature = (observer, encoder=Text::from("canonical")), text_signature = "($self, observer, encoder='canonical')")]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        observer: Integer,
        encoder: Text,
    ) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let observer = seat("observer", &observer, self.state.variant().players())?;
        let encoder = encoder.parse::<Encoder>()?;
        Ok(encode_view(encoder, self.state.seer_view(observer)).into_pyarray(py))
    }

    /// What seats see: a row for each of K seats, int64 (K,), with `wanted` as `Batch._rows` takes it. `games` are
    /// zeros, int64 (K,).
    fn _rows<'py>(
        &self,
        py: Python<'py>,
        games: &Bound<'py, PyAny>,
        seats: &Bound<'py, PyAny>,
        wanted: ViewRequest,
    ) -> PyResult<Bound<'py, PyDict>> {
        let variant = self.state.variant();
        let pairs = pairs(games, seats, 1, variant.players())?;
        rows(py, variant, &wanted, pairs.len(), |row| (*self.state.position(), pairs[row].1))
    }

    /// The view of a seat: what it may see.
    ///
    /// Raises:
    ///     StarmineError: there is no such seat.
    #[pyo3(name = "view")]
    fn view_of(&self, observer: Integer) -> PyResult<View> {
        let observer = seat("observer", &observer, self.state.variant().players())?;
        Ok(View::new(self.state.clone(), observer))
    }

    /// The state as JSON text: variant, deck, start player and actions.
    fn to_json(&self) -> String {
        serde_json::to_string(&self.state).expect("plain data becomes JSON")
    }

    /// Restores a state from the text of `to_json`, by dealing and playing it again.
    ///
    /// Raises:
    ///     SerializationError: the text is not a stored state, or one of another version.
    #[staticmethod]
    fn from_json(text: Text) -> PyResult<rules::State> {
        serde_json::from_str(&text).map_err(|error| {
            SerializationError::new_err(format!("the text is not a stored state: {error}"))
        })
    }

    fn __copy__(&self) -> State {
        self.clone()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyDict>) -> State {
        self.clone()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<State>().getattr("from_json")?, (self.to_json(),)))
    }

    fn __str__(&self) -> String {
        self.state.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<State of {} after {} turns>", self.state.variant(), self.state.length())
    }
}
