//! The decks that a reset deals instead of random ones.

use super::kernel::draw_order::DrawOrder;
use super::kernel::game::Game;
use super::{Batch, BatchError, reserve};
use crate::rules::{
    Card, DeckError, EpisodeSeed, GameRng, ListedDeck, Position, RandomDeck, Seat, Variant,
};

/// The deck that [`Batch::reset_to_decks`] deals in one game.
#[derive(Clone, Copy, Debug)]
pub struct GivenDeck<'a> {
    /// The index of the game.
    pub game: usize,
    /// All cards of the variant, the top card first, seat 0's hand before seat 1's.
    pub cards: &'a [Card],
    /// The seat that starts.
    pub start_player: Seat,
}

/// Given decks as arrays: one byte for each card, the card's index, deck after deck; and the start
/// player of each game, or seat 0 for all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GivenDecks<'a> {
    /// The cards of all games.
    pub cards: &'a [u8],
    /// The start player of each game.
    pub start_players: Option<&'a [u8]>,
}

impl GivenDecks<'_> {
    /// Deals the deck of one game, which counts as this episode.
    ///
    /// # Errors
    /// [`DeckError`] for a deck that is not the variant's, or a start player that is not a seat.
    pub(super) fn deal(
        &self,
        game: usize,
        variant: &Variant,
        seed: EpisodeSeed,
    ) -> Result<(Game, DrawOrder), DeckError> {
        let size = usize::from(variant.deck_size());
        let cards = &self.cards[game * size..][..size];
        let mut deck = ListedDeck::from_indices(variant, cards)?;
        let start = self.start_players.map_or(0, |all| all[game]);
        let start = variant.start_player(start.into())?;
        let position = Position::deal(variant, start, &mut deck);
        let num_dealt = size - usize::from(position.deck_size);
        let (order, hands) = DrawOrder::new(variant, cards, num_dealt);
        let (size, rng) = (position.deck_size, GameRng::new(seed));
        let deck = RandomDeck { left: hands.left, size, rng };
        Ok((Game { position, deck, seed, length: 0 }, order))
    }
}

/// As [`GivenDecks`], with a mask of the games that have a deck. The others have zeros.
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
    pub fn new(batch: &Batch, decks: &[GivenDeck<'_>]) -> Result<DeckArrays, BatchError> {
        let (variant, num_envs) = (batch.variant(), batch.num_envs());
        let size = usize::from(variant.deck_size());
        let mut arrays = DeckArrays {
            cards: reserve(num_envs * size, num_envs)?,
            start_players: reserve(num_envs, num_envs)?,
            has_deck: reserve(num_envs, num_envs)?,
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
    use crate::batch::{Options, Outputs, Seeds};
    use crate::rules::{Rank, State, Suit};

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
            assert_eq!(batch.position(game).as_ref(), Some(state.position()));
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
