//! Recorded games: the deck and the actions of each game, from which every other fact about it
//! follows.

use std::collections::TryReserveError;
use std::ops::Range;
use std::sync::Arc;

use crate::rules::game::recorded_game::RecordedGame;
use crate::rules::game::recording_error::RecordingError;
use crate::rules::game::state::State;
use crate::rules::small_index::Seat;
use crate::rules::turns::event::Event;
use crate::rules::variants::variant::Variant;

/// The decks and actions of many games of one variant.
///
/// [`Recording::push`] adds a game, and [`Recording::game`] gives it back. To store the games, take
/// [`Recording::arrays`]. Arrays become a recording by [`Recording::from_arrays`];
/// [`RecordedGame::play`] then plays a game by the rules and says where it breaks them.
///
/// ```
/// use starmine::rules::{EpisodeSeed, Recording, State, Variant};
///
/// let variant = Variant::default();
/// let mut state = State::new(variant.clone(), EpisodeSeed::new(7));
/// state.play("play 0".parse()?)?;
/// state.play("play 1".parse()?)?;
/// let mut recording = Recording::new(variant);
/// recording.push(&state)?;
/// assert_eq!(recording.game(0).actions(), [5, 6]);
/// assert_eq!(recording.game(0).state()?, state);
/// for game in recording.games() {
///     println!("seat {} starts, {} turns", game.start_player()?, game.actions().len());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    variant: Arc<Variant>,
    arrays: RecordingArrays,
}

/// The games of a [`Recording`] in flat arrays, game after game, as they are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordingArrays {
    /// The whole deck of each game, the top card first; a card is suit times ranks plus rank.
    pub decks: Vec<u8>,
    /// The seat that starts each game.
    pub start_players: Vec<u8>,
    /// The actions of all games.
    pub actions: Vec<u8>,
    /// For each game the number of actions up to its last one, in ascending order.
    pub ends: Vec<u64>,
}

impl Recording {
    /// No games of this variant.
    #[must_use]
    pub fn new(variant: impl Into<Arc<Variant>>) -> Recording {
        let variant = variant.into();
        Recording { variant, arrays: RecordingArrays::default() }
    }

    /// The recording of these games of a variant.
    ///
    /// # Errors
    /// [`RecordingError`] if the lengths do not fit. The decks and actions themselves are not
    /// checked, see [`RecordedGame::play`].
    pub fn from_arrays(
        variant: impl Into<Arc<Variant>>,
        arrays: RecordingArrays,
    ) -> Result<Recording, RecordingError> {
        let variant = variant.into();
        let RecordingArrays { decks, start_players, actions, ends } = &arrays;
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
        Ok(Recording { variant, arrays })
    }

    /// The variant of all games.
    #[must_use]
    pub const fn variant(&self) -> &Arc<Variant> {
        &self.variant
    }

    /// The games as arrays.
    #[must_use]
    pub const fn arrays(&self) -> &RecordingArrays {
        &self.arrays
    }

    /// The games as arrays, which [`Recording::from_arrays`] takes.
    #[must_use]
    pub fn into_arrays(self) -> RecordingArrays {
        self.arrays
    }

    /// Adds a game as far as it was played.
    ///
    /// # Errors
    /// [`RecordingError`] if it is of another variant, or if there is no memory for it.
    pub fn push(&mut self, state: &State) -> Result<(), RecordingError> {
        let variant = state.variant();
        if *variant != self.variant {
            return Err(RecordingError::Variant);
        }
        let cards = state.deck().iter().map(|&card| variant.card_index_unchecked(card) as u8);
        Ok(self.push_game(cards, state.start_player(), state.history())?)
    }

    /// Adds a game of the variant by its deck, the seat that starts and its turns.
    pub(crate) fn push_game(
        &mut self,
        cards: impl Iterator<Item = u8>,
        start_player: Seat,
        turns: &[Event],
    ) -> Result<(), TryReserveError> {
        let Recording { variant, arrays } = self;
        arrays.reserve(1, variant.deck_size().into(), turns.len())?;
        arrays.decks.extend(cards);
        arrays.start_players.push(start_player.into());
        arrays.actions.extend(turns.iter().map(|event| {
            let action = variant.move_to_action(event.played);
            u8::from(action.expect("a played move has an action"))
        }));
        arrays.ends.push(arrays.actions.len() as u64);
        Ok(())
    }

    /// The game with this number.
    ///
    /// # Panics
    /// If there is no such game.
    #[must_use]
    pub fn game(&self, game: usize) -> RecordedGame<'_> {
        let (RecordingArrays { decks, start_players, actions, .. }, variant) =
            (&self.arrays, &self.variant);
        let size = usize::from(variant.deck_size());
        RecordedGame {
            variant,
            cards: &decks[game * size..][..size],
            start_player: start_players[game],
            actions: &actions[self.turns(game)],
        }
    }

    /// The games in their order.
    pub fn games(&self) -> impl ExactSizeIterator<Item = RecordedGame<'_>> {
        (0..self.len()).map(|game| self.game(game))
    }

    /// The number of games.
    #[must_use]
    pub fn len(&self) -> usize {
        self.arrays.ends.len()
    }

    /// Whether there is no game.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.arrays.ends.is_empty()
    }

    /// The range of a game's actions in `actions`.
    pub(crate) fn turns(&self, game: usize) -> Range<usize> {
        let ends = &self.arrays.ends;
        let start = if game == 0 { 0 } else { ends[game - 1] };
        start as usize..ends[game] as usize
    }

    /// Adds the games of another recording of the same variant.
    pub(crate) fn append(&mut self, other: &Recording) -> Result<(), TryReserveError> {
        debug_assert!(self.variant == other.variant);
        self.arrays.append(&other.arrays)
    }
}

impl RecordingArrays {
    /// Adds the games of other arrays of the same variant.
    fn append(&mut self, other: &RecordingArrays) -> Result<(), TryReserveError> {
        self.reserve(other.ends.len(), other.decks.len(), other.actions.len())?;
        let before = self.actions.len() as u64;
        self.decks.extend_from_slice(&other.decks);
        self.start_players.extend_from_slice(&other.start_players);
        self.actions.extend_from_slice(&other.actions);
        self.ends.extend(other.ends.iter().map(|end| before + end));
        Ok(())
    }

    /// Reserves memory for this many more games, cards and actions.
    fn reserve(
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
