//! The decks that a reset deals instead of random ones.

use super::kernel::draw_order::DrawOrder;
use super::kernel::game::Game;
use crate::rules::{
    Card, DeckError, EpisodeSeed, GameRng, ListedDeck, Position, RandomDeck, Seat, Variant,
};

/// The deck that [`Batch::reset_to_decks`](super::Batch::reset_to_decks) deals in one game.
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
        let (size, rng) = (position.deck_size, GameRng::for_deal(seed));
        let deck = RandomDeck { left: hands.left, size, rng };
        Ok((Game { position, deck, seed, length: 0 }, order))
    }
}
