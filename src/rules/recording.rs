//! Recorded games: the deck and the actions of each game, from which every other fact about it
//! follows.

use std::collections::TryReserveError;
use std::ops::Range;

use super::deck::{DeckError, ListedDeck};
use super::ending::Ending;
use super::moves::MoveError;
use super::position::Position;
use super::seat::Seat;
use super::variant::Variant;

/// The decks and actions of many games of one variant, in flat arrays, game after game.
///
/// The arrays may come from anywhere. [`Recording::check`] plays a game by the rules and says where
/// it breaks them.
///
/// ```
/// use std::sync::Arc;
/// use starmine::rules::{EpisodeSeed, Parameters, Recording, State, Variant};
///
/// let variant = Arc::new(Variant::new(Parameters::default())?);
/// let dealt = State::new(variant.clone(), EpisodeSeed::default());
/// let recording = Recording {
///     decks: dealt.deck().iter().map(|&card| variant.card_index(card) as u8).collect(),
///     start_players: vec![0],
///     actions: vec![5, 6], // seat 0 plays slot 0, seat 1 plays slot 1
///     ends: vec![2],
/// };
/// let checked = recording.check(&variant, 0)?;
/// assert_eq!((checked.turns, checked.error), (2, None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// The whole deck of each game, the top card first; a card is suit times ranks plus rank.
    pub decks: Vec<u8>,
    /// The seat that starts each game.
    pub start_players: Vec<u8>,
    /// The actions of all games.
    pub actions: Vec<u8>,
    /// For each game the number of actions up to its last one, in ascending order.
    pub ends: Vec<u64>,
}

/// The result of [`Recording::check`].
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub(crate) fn cards(&self, variant: &Variant, game: usize) -> &[u8] {
        let size = usize::from(variant.deck_size());
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
    /// If there is no such game, or an array is too short for it.
    pub(crate) fn deal(
        &self,
        variant: &Variant,
        game: usize,
    ) -> Result<(ListedDeck, Seat), DeckError> {
        let deck = ListedDeck::from_indices(variant, self.cards(variant, game))?;
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
        for &card in self.cards(variant, game) {
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
    /// If there is no such game, or an array is too short for it.
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
