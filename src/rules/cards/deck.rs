//! The deck of random cards, and the checks of given decks.

use thiserror::Error;

use crate::rules::cards::card::Card;
use crate::rules::cards::select::nth_set_bit;
use crate::rules::game::episode_seed::EpisodeSeed;
use crate::rules::game::rng::GameRng;
use crate::rules::limits::MAX_CARD_KINDS;
use crate::rules::small_index::Seat;
use crate::rules::variants::variant::Variant;

/// A deck that chooses each card when it is drawn, uniformly from the copies that are left.
#[derive(Clone, Debug)]
pub(crate) struct RandomDeck {
    pub(crate) left: u64,
    pub(crate) size: u8,
    pub(crate) rng: GameRng,
}

impl RandomDeck {
    /// The full deck of an episode, and the seat that starts it.
    #[must_use]
    pub fn new(variant: &Variant, seed: EpisodeSeed) -> (RandomDeck, Seat) {
        let mut rng = GameRng::for_deal(seed);
        let start_player = if variant.random_start_player() {
            Seat::new_unchecked(rng.below(variant.players().into()) as usize)
        } else {
            Seat::default()
        };
        let left = variant.tables().all_copies;
        (RandomDeck { left, size: variant.deck_size(), rng }, start_player)
    }

    /// The cards that are left, in the order in which they will be drawn.
    #[must_use]
    pub fn into_cards(mut self, variant: &Variant) -> Vec<Card> {
        std::iter::from_fn(|| self.draw(variant)).map(|card| variant.card_unchecked(card)).collect()
    }

    /// Takes the top card away and returns its index, or `None` when no card is left.
    pub fn draw(&mut self, variant: &Variant) -> Option<u8> {
        if self.left == 0 {
            return None;
        }
        let copy = nth_set_bit(self.left, self.rng.below(self.size.into()));
        self.left &= !(1 << copy);
        self.size -= 1;
        Some(variant.tables().copy_card[copy as usize])
    }
}

/// A deck or a start player that does not fit the variant.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DeckError {
    /// Not as many cards as the variant has.
    #[error("deck has {found} cards: expected {expected}")]
    WrongLength {
        /// The number given.
        found: usize,
        /// The number in the variant.
        expected: u8,
    },
    /// A card that the variant does not have.
    #[error(
        "deck[{index}]={card} is not a card of this variant: expected {colors} colours and {ranks} ranks"
    )]
    WrongCard {
        /// Its index in the deck.
        index: usize,
        /// The card.
        card: Card,
        /// The variant's number of colours.
        colors: u8,
        /// The variant's number of ranks.
        ranks: u8,
    },
    /// An index that no card has.
    #[error("deck[{index}]={card} is not a card of this variant: expected 0 to {}", kinds - 1)]
    WrongIndex {
        /// Its place in the deck.
        index: usize,
        /// The card's index.
        card: u8,
        /// The number of kinds of cards.
        kinds: usize,
    },
    /// Too many or too few copies of a card.
    #[error("deck has {found} copies of {card}: expected {expected}")]
    WrongCount {
        /// The card.
        card: Card,
        /// The number of copies given.
        found: usize,
        /// The number of copies in the variant.
        expected: u8,
    },
    /// A start player that is not a seat.
    #[error("start_player={start_player} is not allowed: expected 0 to {}", players - 1)]
    WrongStartPlayer {
        /// The seat that was given.
        start_player: i64,
        /// The number of seats.
        players: u8,
    },
}

impl Variant {
    /// The seat with this number, if it may start a game.
    pub(crate) fn start_player(&self, number: i64) -> Result<Seat, DeckError> {
        let error = DeckError::WrongStartPlayer { start_player: number, players: self.players() };
        self.seats().find(|&seat| i64::from(u8::from(seat)) == number).ok_or(error)
    }

    /// Checks that these cards are exactly the variant's.
    pub(in crate::rules) fn check_deck(&self, cards: &[Card]) -> Result<(), DeckError> {
        for (index, &card) in cards.iter().enumerate() {
            if !self.has_card(card) {
                let (colors, ranks) = (self.colors(), self.ranks());
                return Err(DeckError::WrongCard { index, card, colors, ranks });
            }
        }
        let expected = self.deck_size();
        if cards.len() != usize::from(expected) {
            return Err(DeckError::WrongLength { found: cards.len(), expected });
        }
        let mut copies = [0; MAX_CARD_KINDS];
        cards.iter().for_each(|&card| copies[self.card_index_unchecked(card)] += 1);
        for (card, &found) in self.card_kinds().zip(&copies) {
            let expected = self.copies(card);
            if found != usize::from(expected) {
                return Err(DeckError::WrongCount { card, found, expected });
            }
        }
        Ok(())
    }

    /// The cards with these indices, if they are exactly the variant's.
    pub(crate) fn read_deck(&self, indices: &[u8]) -> Result<Vec<Card>, DeckError> {
        let kinds = &self.tables().card[..self.num_card_kinds()];
        let read = |(index, &card): (usize, &u8)| match kinds.get(usize::from(card)) {
            Some(&card) => Ok(card),
            None => Err(DeckError::WrongIndex { index, card, kinds: kinds.len() }),
        };
        let cards = indices.iter().enumerate().map(read).collect::<Result<Vec<Card>, _>>()?;
        self.check_deck(&cards)?;
        Ok(cards)
    }
}
