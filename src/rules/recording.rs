//! Recorded games: the deck and the actions of each game, from which every other fact about it
//! follows.

use std::collections::TryReserveError;
use std::ops::Range;
use std::sync::Arc;

use thiserror::Error;

use super::deck::{DeckError, ListedDeck};
use super::ending::Ending;
use super::event::Event;
use super::moves::MoveError;
use super::position::Position;
use super::seat::Seat;
use super::state::{State, StateError};
use super::variant::Variant;

/// The decks and actions of many games of one variant, in flat arrays, game after game.
///
/// [`Recording::push`] adds a game, and [`Recording::state`] gives it back. Arrays of another source
/// become a recording by [`Recording::from_arrays`]; [`Recording::check`] then plays a game by the
/// rules and says where it breaks them.
///
/// ```
/// use std::sync::Arc;
/// use starmine::rules::{EpisodeSeed, Parameters, Recording, State, Variant};
///
/// let variant = Arc::new(Variant::new(Parameters::default())?);
/// let mut state = State::new(variant.clone(), EpisodeSeed::new(7));
/// state.play("play 0".parse()?)?;
/// state.play("play 1".parse()?)?;
/// let mut recording = Recording::default();
/// recording.push(&state)?;
/// assert_eq!(recording.actions(), [5, 6]);
/// assert_eq!(recording.state(&variant, 0)?, state);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    decks: Vec<u8>,
    start_players: Vec<u8>,
    actions: Vec<u8>,
    ends: Vec<u64>,
}

/// Arrays that are not those of games of a variant.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// An array with more or fewer entries than the games need.
    #[error("{array} has {found} entries: expected {expected}")]
    Length {
        /// The array's name.
        array: &'static str,
        /// The number of its entries.
        found: usize,
        /// The number that is needed.
        expected: usize,
    },
    /// The ends of the games do not ascend to the number of actions.
    #[error("ends are not ascending numbers up to {actions}, the number of actions")]
    Ends {
        /// The number of actions.
        actions: usize,
    },
}

/// The result of [`Recording::check`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GameCheck {
    /// The score after the turns that could be played.
    pub score: u8,
    /// The sum of the fireworks' heights then.
    pub fireworks: u8,
    /// How the game ended, if it did.
    pub ending: Option<Ending>,
    /// The number of turns that could be played.
    pub turns: usize,
    /// Why the next action cannot be played, if there is one.
    pub error: Option<MoveError>,
}

impl Recording {
    /// The recording of these arrays of games of a variant:
    /// - `decks`: the whole deck of each game, the top card first; a card is suit times ranks plus
    ///   rank;
    /// - `start_players`: the seat that starts each game;
    /// - `actions`: the actions of all games;
    /// - `ends`: for each game the number of actions up to its last one, in ascending order.
    ///
    /// # Errors
    /// [`RecordingError`] if the lengths do not fit. The decks and actions themselves are not
    /// checked, see [`Recording::check`].
    pub fn from_arrays(
        variant: &Variant,
        decks: Vec<u8>,
        start_players: Vec<u8>,
        actions: Vec<u8>,
        ends: Vec<u64>,
    ) -> Result<Recording, RecordingError> {
        let cards = ends.len() * usize::from(variant.deck_size());
        let lengths =
            [("decks", decks.len(), cards), ("start_players", start_players.len(), ends.len())];
        for (array, found, expected) in lengths {
            if found != expected {
                return Err(RecordingError::Length { array, found, expected });
            }
        }
        if !ends.is_sorted() || ends.last().copied().unwrap_or(0) != actions.len() as u64 {
            return Err(RecordingError::Ends { actions: actions.len() });
        }
        Ok(Recording { decks, start_players, actions, ends })
    }

    /// The arrays that [`Recording::from_arrays`] takes, in its order.
    #[must_use]
    pub fn into_arrays(self) -> (Vec<u8>, Vec<u8>, Vec<u8>, Vec<u64>) {
        (self.decks, self.start_players, self.actions, self.ends)
    }

    /// The decks, game after game, as in [`Recording::from_arrays`].
    #[must_use]
    pub fn decks(&self) -> &[u8] {
        &self.decks
    }

    /// The seat that starts each game.
    #[must_use]
    pub fn start_players(&self) -> &[u8] {
        &self.start_players
    }

    /// The actions of all games.
    #[must_use]
    pub fn actions(&self) -> &[u8] {
        &self.actions
    }

    /// For each game the number of actions up to its last one.
    #[must_use]
    pub fn ends(&self) -> &[u64] {
        &self.ends
    }

    /// Adds a game of the recording's variant.
    ///
    /// # Errors
    /// `TryReserveError` if there is no memory for it.
    pub fn push(&mut self, state: &State) -> Result<(), TryReserveError> {
        let variant = state.variant();
        let cards = state.deck().iter().map(|&card| variant.kind_of(card) as u8);
        self.push_game(variant, cards, state.start_player(), state.history())
    }

    /// Adds a game by its deck, the seat that starts and its turns.
    pub(crate) fn push_game(
        &mut self,
        variant: &Variant,
        cards: impl Iterator<Item = u8>,
        start_player: Seat,
        turns: &[Event],
    ) -> Result<(), TryReserveError> {
        self.reserve(1, variant.deck_size().into(), turns.len())?;
        self.decks.extend(cards);
        self.start_players.push(start_player.into());
        self.actions.extend(turns.iter().map(|event| {
            let action = variant.move_to_action(event.played);
            u8::from(action.expect("a played move has an action"))
        }));
        self.ends.push(self.actions.len() as u64);
        Ok(())
    }

    /// The game with this number, after its last action.
    ///
    /// # Errors
    /// [`StateError`] if the deck is not the variant's, there is no such seat, or an action is not
    /// legal.
    ///
    /// # Panics
    /// If there is no such game.
    pub fn state(&self, variant: &Arc<Variant>, game: usize) -> Result<State, StateError> {
        let (deck, start) = self.deal(variant, game)?;
        let actions = self.actions[self.turns(game)].iter().copied().map(i64::from);
        State::replay(variant.clone(), deck, start, actions)
    }

    /// The number of games.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no game.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The cards of a game.
    pub(crate) fn cards(&self, game: usize) -> &[u8] {
        let size = self.decks.len() / self.len();
        &self.decks[game * size..][..size]
    }

    /// The range of a game's actions in `actions`.
    pub(crate) fn turns(&self, game: usize) -> Range<usize> {
        let start = if game == 0 { 0 } else { self.ends[game - 1] };
        start as usize..self.ends[game] as usize
    }

    /// The deck of a game, and the seat that starts.
    ///
    /// # Errors
    /// [`DeckError`] if the deck is not the variant's, or there is no such seat.
    ///
    /// # Panics
    /// If there is no such game.
    pub(crate) fn deal(
        &self,
        variant: &Variant,
        game: usize,
    ) -> Result<(ListedDeck, Seat), DeckError> {
        let deck = ListedDeck::from_indices(variant, self.cards(game))?;
        Ok((deck, variant.start_player(self.start_players[game].into())?))
    }

    /// Checks that the deck of a game is the variant's, and that there is such a start player.
    ///
    /// # Errors
    /// As [`Recording::deal`].
    pub(crate) fn check_deal(&self, variant: &Variant, game: usize) -> Result<(), DeckError> {
        // A complete deck uses each copy once. Only for another deck does `deal` look for the
        // error, which is slower.
        let fields = &variant.tables().copy_field;
        let mut left = variant.tables().all_copies;
        for &card in self.cards(game) {
            let copies = left & fields.get(usize::from(card)).copied().unwrap_or(0);
            left &= !(copies & copies.wrapping_neg());
        }
        if left == 0 && self.start_players[game] < variant.players() {
            return Ok(());
        }
        self.deal(variant, game).map(|_| ())
    }

    /// Plays a game by the rules, up to its first action that is not legal.
    ///
    /// # Errors
    /// [`DeckError`] if the deck is not the variant's, or there is no such seat.
    ///
    /// # Panics
    /// If there is no such game.
    pub fn check(&self, variant: &Variant, game: usize) -> Result<GameCheck, DeckError> {
        let (mut deck, start) = self.deal(variant, game)?;
        let mut position = Position::deal(variant, start, &mut deck);
        let (mut turns, mut error) = (0, None);
        for &action in &self.actions[self.turns(game)] {
            match position.check_action(variant, action.into()) {
                Ok(played) => _ = position.apply_unchecked(variant, played, &mut deck),
                Err(found) => {
                    error = Some(found);
                    break;
                }
            }
            turns += 1;
        }
        let (score, fireworks) = (position.score(variant), position.fireworks_sum());
        Ok(GameCheck { score, fireworks, ending: position.ending, turns, error })
    }

    /// Adds the games of another recording.
    ///
    /// # Errors
    /// `TryReserveError` if there is no memory for them.
    pub fn append(&mut self, other: &Recording) -> Result<(), TryReserveError> {
        self.reserve(other.len(), other.decks.len(), other.actions.len())?;
        let before = self.actions.len() as u64;
        self.decks.extend_from_slice(&other.decks);
        self.start_players.extend_from_slice(&other.start_players);
        self.actions.extend_from_slice(&other.actions);
        self.ends.extend(other.ends.iter().map(|end| before + end));
        Ok(())
    }

    /// Reserves memory for this many more games, cards and actions.
    pub(crate) fn reserve(
        &mut self,
        games: usize,
        cards: usize,
        actions: usize,
    ) -> Result<(), TryReserveError> {
        self.decks.try_reserve(cards)?;
        self.start_players.try_reserve(games)?;
        self.actions.try_reserve(actions)?;
        self.ends.try_reserve(games)
    }
}
