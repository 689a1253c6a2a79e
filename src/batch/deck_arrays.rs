//! Given decks as arrays, which a reset reads.

use super::error::BatchError;
use super::given_decks::GivenDeck;
use crate::buffers::try_with_capacity;
use crate::rules::{ListedDeck, Variant};

/// As [`GivenDecks`](super::given_decks::GivenDecks), with a mask of the games that have a deck. The
/// others have zeros.
pub(super) struct DeckArrays {
    pub cards: Vec<u8>,
    pub start_players: Vec<u8>,
    pub has_deck: Vec<bool>,
}

impl DeckArrays {
    /// The arrays of these decks.
    ///
    /// # Errors
    /// [`BatchError`] for a deck or a start player that does not fit the variant, a game that there
    /// is not or that is listed twice, or no memory.
    pub fn new(
        variant: &Variant,
        num_envs: usize,
        decks: &[GivenDeck<'_>],
    ) -> Result<DeckArrays, BatchError> {
        let size = usize::from(variant.deck_size());
        let memory = |source| BatchError::Memory { num_envs, source };
        let mut arrays = DeckArrays {
            cards: try_with_capacity(num_envs * size).map_err(memory)?,
            start_players: try_with_capacity(num_envs).map_err(memory)?,
            has_deck: try_with_capacity(num_envs).map_err(memory)?,
        };
        arrays.cards.resize(num_envs * size, 0);
        arrays.start_players.resize(num_envs, 0);
        arrays.has_deck.resize(num_envs, false);
        for &GivenDeck { game, cards, start_player } in decks {
            let Some(has_deck) = arrays.has_deck.get_mut(game) else {
                return Err(BatchError::NoGame { game, num_envs });
            };
            if std::mem::replace(has_deck, true) {
                return Err(BatchError::SeveralDecks(game));
            }
            ListedDeck::new(variant, cards.to_vec())
                .map_err(|source| BatchError::Deck { game, source })?;
            let row = &mut arrays.cards[game * size..][..size];
            for (index, &card) in row.iter_mut().zip(cards) {
                *index = variant.card_index(card) as u8;
            }
            arrays.start_players[game] = start_player.into();
        }
        Ok(arrays)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{Batch, Options, Outputs, Seeds};
    use crate::rules::{Card, EpisodeSeed, Rank, Seat, State, Suit};

    #[test]
    fn a_listed_game_gets_its_deck_and_the_others_stay() {
        let variant = Variant::default();
        let mut batch = Batch::new(variant.clone(), 4, 0, Options::default()).unwrap();
        let kept = batch.position(1);
        let dealt = State::new(variant.clone(), EpisodeSeed::new(7));
        let decks = [3, 0].map(|game| {
            let start_player = Seat::ALL[game % 2];
            GivenDeck { game, cards: dealt.deck(), start_player }
        });
        batch.reset_to_decks(&decks, Seeds::Continue, Outputs::default()).unwrap();
        for GivenDeck { game, cards, start_player } in decks {
            let state = State::from_deck(variant.clone(), cards.to_vec(), start_player).unwrap();
            assert_eq!(batch.position(game), *state.position());
        }
        assert_eq!(batch.position(1), kept);
    }

    #[test]
    fn wrong_decks_are_refused_and_change_nothing() {
        let variant = Variant::default();
        let mut batch = Batch::new(variant.clone(), 2, 0, Options::default()).unwrap();
        let before = batch.to_bytes().unwrap();
        let dealt = State::new(variant, EpisodeSeed::new(7));
        let good = GivenDeck { game: 0, cards: dealt.deck(), start_player: Seat::FIRST };
        let mut foreign = dealt.deck().to_vec();
        foreign[9] = Card::new(Suit::MULTICOLOR, Rank::ALL[0]);
        let wrong: [(&[GivenDeck<'_>], &str); 6] = [
            (&[], "no game"),
            (&[good, GivenDeck { game: 2, ..good }], "there is no game 2: expected 0 to 1"),
            (&[good, good], "game 0 has several decks"),
            (&[good, GivenDeck { game: 1, cards: &good.cards[1..], ..good }], "game 1"),
            (&[GivenDeck { cards: &foreign, ..good }], "game 0"),
            (&[GivenDeck { start_player: Seat::ALL[2], ..good }], "game 0"),
        ];
        for (decks, text) in wrong {
            let refused = batch.reset_to_decks(decks, Seeds::Continue, Outputs::default());
            let error = refused.unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
            assert!(batch.to_bytes().unwrap() == before);
        }
    }
}
