//! One game in progress, with its whole deck and its past turns.

use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::rules::cards::card::{Card, Suit};
use crate::rules::cards::deck::{DeckError, RandomDeck};
use crate::rules::cards::outlook::Outlook;
use crate::rules::error_text;
use crate::rules::game::episode_seed::EpisodeSeed;
use crate::rules::game::position::Position;
use crate::rules::game::recording_error::RecordingError;
use crate::rules::small_index::Seat;
use crate::rules::turns::ending::Ending;
use crate::rules::turns::event::Event;
use crate::rules::turns::moves::{ActionId, ActionSet, Move, MoveError};
use crate::rules::variants::variant::Variant;
use crate::rules::views::table_facts::table_facts;
use crate::rules::views::view::{SeerView, View};

/// One game in progress: its position, the order of its deck and all past turns.
///
/// ```
/// use starmine::rules::{EpisodeSeed, State, Variant};
///
/// let variant = Variant::default();
/// let mut state = State::new(variant, EpisodeSeed::new(7));
/// while let Some(played) = state.legal_moves().next() {
///     state.play(played)?;
/// }
/// assert_eq!(state.history().len(), state.length());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "StateRecord")]
pub struct State {
    variant: Arc<Variant>,
    position: Position,
    /// The whole deck as it was before the deal, the top card first.
    deck: Vec<Card>,
    start_player: Seat,
    history: Vec<Event>,
}

/// The stored form of a state. Reading it replays the game.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateRecord {
    format: u32,
    variant: Variant,
    deck: Vec<Card>,
    start_player: i64,
    actions: Vec<i64>,
}

/// Incremented when stored states of the previous format can no longer be read.
const FORMAT: u32 = 1;

impl State {
    /// Deals the game of this seed.
    #[must_use]
    pub fn new(variant: impl Into<Arc<Variant>>, seed: EpisodeSeed) -> State {
        let variant = variant.into();
        let (deck, start_player) = RandomDeck::new(&variant, seed);
        let deck = deck.into_cards(&variant);
        State::deal(variant, deck, start_player)
    }

    /// Deals a given deck, the top card first, seat 0's hand before seat 1's.
    ///
    /// # Errors
    /// [`DeckError`] if the deck is not the variant's or there is no such seat.
    pub fn from_deck(
        variant: impl Into<Arc<Variant>>,
        deck: Vec<Card>,
        start_player: Seat,
    ) -> Result<State, DeckError> {
        let variant = variant.into();
        variant.check_deck(&deck)?;
        let start_player = variant.start_player(u8::from(start_player).into())?;
        Ok(State::deal(variant, deck, start_player))
    }

    /// As [`State::from_deck`], for a deck and a seat of the variant.
    pub(in crate::rules) fn deal(
        variant: Arc<Variant>,
        deck: Vec<Card>,
        start_player: Seat,
    ) -> State {
        let mut cards = deck.iter().map(|&card| variant.card_index_unchecked(card) as u8);
        let position = Position::deal(&variant, start_player, || cards.next());
        State { variant, position, deck, start_player, history: Vec::new() }
    }

    /// Plays these actions up to the first one that is not legal.
    ///
    /// # Errors
    /// [`MoveError`] for that action.
    pub(in crate::rules) fn play_all(
        &mut self,
        actions: impl ExactSizeIterator<Item = impl Into<i64>>,
    ) -> Result<(), MoveError> {
        self.history.reserve(actions.len());
        for action in actions {
            let played = self.position.check_action(&self.variant, action.into())?;
            self.play_unchecked(played);
        }
        Ok(())
    }

    /// The variant of the game.
    #[must_use]
    pub const fn variant(&self) -> &Arc<Variant> {
        &self.variant
    }

    /// The current position.
    #[must_use]
    pub(crate) const fn position(&self) -> &Position {
        &self.position
    }

    /// The whole deck as it was before the deal, the top card first.
    #[must_use]
    pub fn deck(&self) -> &[Card] {
        &self.deck
    }

    /// The seat that started.
    #[must_use]
    pub const fn start_player(&self) -> Seat {
        self.start_player
    }

    /// The turns played so far, the oldest first.
    #[must_use]
    pub fn history(&self) -> &[Event] {
        &self.history
    }

    /// Number of turns played so far.
    #[must_use]
    pub const fn length(&self) -> usize {
        self.history.len()
    }

    /// The discarded cards, the oldest first.
    pub fn discard_pile(&self) -> impl Iterator<Item = Card> + '_ {
        self.history.iter().filter(|event| !event.added).filter_map(|event| event.card)
    }

    /// The cards in the hand of a seat, the oldest first.
    ///
    /// # Panics
    /// If the variant has no such seat.
    pub fn hand(&self, seat: Seat) -> impl ExactSizeIterator<Item = Card> {
        assert!(seat.index() < self.variant.players().into(), "no seat {seat}");
        self.position.hand(&self.variant, seat)
    }

    /// Whether this move of the seat to act is legal.
    #[must_use]
    pub fn is_legal(&self, candidate: Move) -> bool {
        self.position.is_legal(&self.variant, candidate)
    }

    /// The legal actions of the seat to act; none once the game is over.
    #[must_use]
    pub fn legal_actions(&self) -> ActionSet {
        self.position.legal_actions(&self.variant)
    }

    /// The legal moves of the seat to act; none once the game is over.
    pub fn legal_moves(&self) -> impl ExactSizeIterator<Item = Move> + use<> {
        let variant = self.variant.clone();
        self.legal_actions().iter().map(move |action| variant.tables().moves[action.index()])
    }

    /// What this seat may see, the past turns included.
    ///
    /// # Panics
    /// If the variant has no such seat.
    #[must_use]
    pub fn view(&self, observer: Seat) -> View<'_> {
        View::new(&self.variant, &self.position, observer).with_history(&self.history)
    }

    /// What this seat would see if its own cards were open too, without the past turns.
    ///
    /// # Panics
    /// If the variant has no such seat.
    #[must_use]
    pub fn seer_view(&self, observer: Seat) -> SeerView<'_> {
        SeerView::new(&self.variant, &self.position, observer)
    }

    /// The game before its first turn.
    #[must_use]
    pub(crate) fn dealt(&self) -> State {
        State::deal(self.variant.clone(), self.deck.clone(), self.start_player)
    }

    /// The game after its first turns; `None` if it has fewer.
    #[must_use]
    pub fn first_turns(&self, turns: usize) -> Option<State> {
        let mut state = self.dealt();
        for event in self.history.get(..turns)? {
            state.play_unchecked(event.played);
        }
        Some(state)
    }

    /// Whether this seat sees the same in both states: the same variant, start, turns and hands of
    /// the others.
    ///
    /// # Panics
    /// If a variant has no such seat.
    #[must_use]
    pub fn is_seen_alike(&self, other: &State, observer: Seat) -> bool {
        self.start_player == other.start_player
            && self.view(observer).shows_the_same(&other.view(observer))
    }

    /// Plays one turn and returns what happened.
    ///
    /// ```
    /// use starmine::rules::{EpisodeSeed, Move, Slot, State, Variant};
    ///
    /// let variant = Variant::default();
    /// let mut state = State::new(variant, EpisodeSeed::default());
    /// state.play(Move::Discard { slot: Slot::OLDEST }).unwrap_err(); // all information tokens are there
    /// let event = state.play(Move::Play { slot: Slot::OLDEST })?;
    /// assert_eq!(state.history(), [event]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`MoveError`] if the game is over or the move is not legal. The state is unchanged then.
    pub fn play(&mut self, played: Move) -> Result<Event, MoveError> {
        self.position.check_move(&self.variant, played)?;
        Ok(self.play_unchecked(played))
    }

    /// Plays one turn with a move that is legal, and returns what happened.
    pub(crate) fn play_unchecked(&mut self, played: Move) -> Event {
        let State { variant, position, deck, history, .. } = self;
        let drawn = deck.len() - usize::from(position.deck_size);
        let top = || deck.get(drawn).map(|&card| variant.card_index_unchecked(card) as u8);
        let event = position.apply_unchecked(variant, played, top);
        history.push(event);
        event
    }

    /// Plays the move with an id and returns the reward: the change of the score.
    ///
    /// # Errors
    /// [`MoveError`] if the game is over or the action is not legal. The state is unchanged then.
    pub fn apply(&mut self, action: ActionId) -> Result<i16, MoveError> {
        self.apply_number(u8::from(action).into())
    }

    /// As [`State::apply`], with a number that need not be an id.
    pub(crate) fn apply_number(&mut self, action: i64) -> Result<i16, MoveError> {
        let played = self.position.check_action(&self.variant, action)?;
        let before = i16::from(self.score());
        self.play_unchecked(played);
        Ok(i16::from(self.score()) - before)
    }
}

table_facts!(State, '_);

impl From<State> for StateRecord {
    fn from(state: State) -> StateRecord {
        let action = |event: &Event| state.variant.move_to_action(event.played);
        StateRecord {
            format: FORMAT,
            actions: state
                .history
                .iter()
                .filter_map(action)
                .map(|action| u8::from(action).into())
                .collect(),
            start_player: u8::from(state.start_player).into(),
            deck: state.deck,
            variant: (*state.variant).clone(),
        }
    }
}

impl<'de> Deserialize<'de> for State {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<State, D::Error> {
        let state = State::try_from(StateRecord::deserialize(deserializer)?);
        // The errors of serde have a text and no source.
        state.map_err(|error| D::Error::custom(error_text(&error)))
    }
}

impl TryFrom<StateRecord> for State {
    type Error = RecordingError;

    fn try_from(record: StateRecord) -> Result<State, RecordingError> {
        if record.format != FORMAT {
            return Err(RecordingError::Format { found: record.format, expected: FORMAT });
        }
        let variant = Arc::new(record.variant);
        let start_player = variant.start_player(record.start_player)?;
        let mut state = State::from_deck(variant, record.deck, start_player)?;
        match state.play_all(record.actions.into_iter()) {
            Ok(()) => Ok(state),
            Err(source) => Err(RecordingError::Move { turn: state.length(), source }),
        }
    }
}
