//! The decks that a reset deals instead of random ones.

use crate::batch::kernel::draw_order::DrawOrder;
use crate::batch::kernel::game::Game;
use crate::rules::{DeckError, EpisodeSeed, GameRng, Position, RandomDeck, Variant};

/// The decks that [`Batch::reset_to_decks`](crate::batch::Batch::reset_to_decks) deals.
#[derive(Clone, Copy, Debug)]
pub struct GivenDecks<'a> {
    /// The cards of all games, deck after deck, each from its top card on: one byte for each card, its
    /// [index](Variant::card_index). Seat 0's hand is dealt before seat 1's.
    pub cards: &'a [u8],
    /// The seat that starts in each game; `None` for seat 0 in all games.
    pub start_players: Option<&'a [u8]>,
}

impl GivenDecks<'_> {
    /// Deals the deck of one game, which counts as this episode.
    ///
    /// # Errors
    /// [`DeckError`] for a deck that is not the variant's, or a start player that is not a seat.
    pub(in crate::batch) fn deal(
        &self,
        game: usize,
        variant: &Variant,
        seed: EpisodeSeed,
    ) -> Result<(Game, DrawOrder), DeckError> {
        let size = usize::from(variant.deck_size());
        let cards = &self.cards[game * size..][..size];
        variant.read_deck(cards)?;
        let start = self.start_players.map_or(0, |all| all[game]);
        let start = variant.start_player(start.into())?;
        let mut dealt = cards.iter().copied();
        let position = Position::deal(variant, start, || dealt.next());
        let num_dealt = size - usize::from(position.deck_size);
        let (order, hands) = DrawOrder::new(variant, cards, num_dealt);
        let (size, rng) = (position.deck_size, GameRng::for_deal(seed));
        let deck = RandomDeck { left: hands.left, size, rng };
        Ok((Game { position, deck, seed, length: 0 }, order))
    }
}
