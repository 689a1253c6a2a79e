//! Where the cards are that the deck has given out.

use super::tally::Tally;
use crate::rules::deck::{Deck, RandomDeck};
use crate::rules::episode_seed::EpisodeSeed;
use crate::rules::limits::{MAX_CARD_KINDS, MAX_CARDS};
use crate::rules::position::Position;
use crate::rules::position_error::{PositionError, require};
use crate::rules::variant::Variant;

/// The cards that an episode's deck has given out, and what is left of it.
pub struct DrawnCards {
    cards: [u8; MAX_CARDS],
    /// How many were dealt at the start.
    dealt: usize,
    /// How many were drawn in all.
    len: usize,
    pub deck: RandomDeck,
    pub start_player: u8,
}

impl DrawnCards {
    pub fn new(variant: &Variant, seed: EpisodeSeed, tally: Tally) -> DrawnCards {
        let (deck, start_player) = RandomDeck::new(variant, seed);
        let dealt = usize::from(variant.players() * variant.hand_size());
        let len = dealt + usize::from(tally.drawn);
        let mut drawn = DrawnCards { cards: [0; MAX_CARDS], dealt, len, deck, start_player };
        for card in &mut drawn.cards[..len] {
            *card = drawn.deck.draw(variant).expect("no more are drawn than the deck has");
        }
        drawn
    }

    /// The card that was drawn last, which is not one of the deal's.
    pub fn last(&self) -> Option<u8> {
        self.cards[self.dealt..self.len].last().copied()
    }
}

impl Position {
    /// Checks that each drawn card is in a hand, on a stack or discarded.
    pub(super) fn check_cards(
        &self,
        variant: &Variant,
        drawn: &DrawnCards,
    ) -> Result<(), PositionError> {
        let mut missing = [0i8; MAX_CARD_KINDS];
        drawn.cards[..drawn.len].iter().for_each(|&card| missing[usize::from(card)] += 1);
        for hand in &self.hands {
            hand.cards().iter().for_each(|&card| missing[usize::from(card)] -= 1);
        }
        let found = variant.card_kinds().zip(missing).all(|(card, missing)| {
            let played = self.fireworks[card.suit.index()] > card.rank.index() as u8;
            missing == self.discarded(variant, card) as i8 + i8::from(played)
        });
        require(found, "hands", "with the stacks and the discards not the cards that were drawn")
    }

    /// Checks that each hand has cards of its deal and later ones, in the order of the deck.
    pub(super) fn check_hands(
        &self,
        variant: &Variant,
        drawn: &DrawnCards,
    ) -> Result<(), PositionError> {
        let hand_size = usize::from(variant.hand_size());
        let hands = self.hands[..usize::from(variant.players())].iter();
        let in_order = hands.enumerate().all(|(seat, hand)| {
            let dealt = &drawn.cards[seat * hand_size..][..hand_size];
            let mut order = dealt.iter().chain(&drawn.cards[drawn.dealt..drawn.len]);
            hand.cards().iter().all(|card| order.any(|other| other == card))
        });
        require(in_order, "hands", "the cards are not in the order in which they were drawn")
    }

    /// Checks that a hand lacks at most one card for each turn of its seat without a deck.
    pub(super) fn check_hand_sizes(
        &self,
        variant: &Variant,
        tally: Tally,
    ) -> Result<(), PositionError> {
        let players = usize::from(variant.players());
        let turns = |seat: usize| {
            let acted = |&back: &usize| (seat + back) % players == self.current_player();
            (1..=usize::from(tally.without_deck)).filter(acted).count()
        };
        let fits =
            |seat: usize| usize::from(variant.hand_size() - self.hands[seat].size) <= turns(seat);
        require((0..players).all(fits), "hands", "too few cards")
    }
}
