//! One recorded game: its deck and its actions.

use std::sync::Arc;

use crate::rules::cards::card::Card;
use crate::rules::cards::deck::DeckError;
use crate::rules::game::recording_error::RecordingError;
use crate::rules::game::state::State;
use crate::rules::small_index::Seat;
use crate::rules::turns::moves::MoveError;
use crate::rules::variants::variant::Variant;

/// A game of a [`Recording`](crate::rules::Recording), as it was recorded. The games of
/// [`Recording::from_arrays`](crate::rules::Recording::from_arrays) may break the rules; here their errors
/// are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedGame<'a> {
    pub(in crate::rules) variant: &'a Arc<Variant>,
    pub(in crate::rules) cards: &'a [u8],
    pub(in crate::rules) start_player: u8,
    pub(in crate::rules) actions: &'a [u8],
}

impl<'a> RecordedGame<'a> {
    /// The variant of the game.
    #[must_use]
    pub const fn variant(self) -> &'a Arc<Variant> {
        self.variant
    }

    /// The ids of the actions, one for each turn.
    #[must_use]
    pub const fn actions(self) -> &'a [u8] {
        self.actions
    }

    /// The whole deck, the top card first, as suit times ranks plus rank.
    pub(crate) const fn cards(self) -> &'a [u8] {
        self.cards
    }

    /// The whole deck as it was before the deal, the top card first.
    ///
    /// # Errors
    /// [`DeckError`] if it is not the variant's.
    pub fn deck(self) -> Result<Vec<Card>, DeckError> {
        self.variant.read_deck(self.cards)
    }

    /// The seat that starts.
    ///
    /// # Errors
    /// [`DeckError`] if there is no such seat.
    pub fn start_player(self) -> Result<Seat, DeckError> {
        self.variant.start_player(self.start_player.into())
    }

    /// The game after its last action.
    ///
    /// # Errors
    /// [`RecordingError`] if the deck is not the variant's, there is no such seat, or an action is not
    /// legal.
    pub fn state(self) -> Result<State, RecordingError> {
        match self.play()? {
            (state, None) => Ok(state),
            (state, Some(source)) => Err(RecordingError::Move { turn: state.length(), source }),
        }
    }

    /// Plays the game by the rules. Returns it as it stands after its last action, or before the first one
    /// that is not legal, with the error of that action.
    ///
    /// # Errors
    /// [`DeckError`] if the deck is not the variant's, or there is no such seat.
    pub fn play(self) -> Result<(State, Option<MoveError>), DeckError> {
        let mut state = State::deal(self.variant.clone(), self.deck()?, self.start_player()?);
        let error = state.play_all(self.actions.iter().copied()).err();
        Ok((state, error))
    }

    /// Checks that the deck is the variant's, and that there is such a start player.
    ///
    /// # Errors
    /// [`DeckError`] if not.
    pub(crate) fn check_deal(self) -> Result<(), DeckError> {
        // A complete deck uses each copy once. Only for another deck is the error looked for, which is
        // slower.
        let fields = &self.variant.tables().copy_field;
        let mut left = self.variant.tables().all_copies;
        for &card in self.cards {
            let copies = left & fields.get(usize::from(card)).copied().unwrap_or(0);
            left &= !(copies & copies.wrapping_neg());
        }
        if left == 0 && self.start_player < self.variant.players() {
            return Ok(());
        }
        self.deck()?;
        self.start_player().map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{EpisodeSeed, Recording, RecordingArrays};

    #[test]
    fn the_errors_of_a_recorded_game_are_found() {
        let variant = Arc::new(Variant::default());
        let state = State::new(variant.clone(), EpisodeSeed::new(3));
        let mut recording = Recording::new(variant.clone());
        recording.push(&state).unwrap();
        let arrays = |actions: &[u8]| RecordingArrays {
            actions: actions.to_vec(),
            ends: vec![actions.len() as u64],
            ..recording.arrays().clone()
        };
        let games = |arrays| Recording::from_arrays(variant.clone(), arrays).unwrap();
        let refused = games(arrays(&[5, 0, 200, 5]));
        let game = refused.game(0);
        assert_eq!((game.actions(), game.deck()), (&[5, 0, 200, 5][..], Ok(state.deck().to_vec())));
        assert_eq!(game.start_player(), Ok(Seat::FIRST));
        let (played, error) = game.play().unwrap();
        assert_eq!(played.history(), [state.clone().play("play 0".parse().unwrap()).unwrap()]);
        assert!(matches!(error, Some(MoveError::Illegal { .. })), "{error:?}");
        assert!(matches!(game.state(), Err(RecordingError::Move { turn: 1, .. })));

        let mut wrong = arrays(&[]);
        wrong.start_players[0] = 2;
        let wrong = games(wrong);
        let seat = DeckError::WrongStartPlayer { start_player: 2, players: 2 };
        assert_eq!(wrong.game(0).start_player(), Err(seat.clone()));
        assert_eq!(wrong.game(0).state().unwrap_err(), RecordingError::Deck(seat.clone()));
        assert_eq!(wrong.game(0).check_deal(), Err(seat));
        let mut wrong = arrays(&[]);
        wrong.decks[0] = 25;
        let wrong = games(wrong);
        assert!(matches!(wrong.game(0).deck(), Err(DeckError::WrongIndex { index: 0, .. })));
        assert_eq!(wrong.game(0).play().unwrap_err(), wrong.game(0).deck().unwrap_err());
    }
}
