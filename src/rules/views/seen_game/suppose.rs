//! The game that one seat sees, with cards where the seat sees none.

use super::SeenGame;
use crate::rules::cards::card::Card;
use crate::rules::game::position::Position;
use crate::rules::game::rng::GameRng;
use crate::rules::game::state::State;
use crate::rules::limits::{MAX_CARD_KINDS, MAX_CARDS, MAX_HAND_SIZE};
use crate::rules::views::belief::Belief;

/// The cards of the deck as indices, the top card first, where the observer's hand is supposed. Cards
/// that the observer has not seen are 0.
pub(crate) type SupposedCards = [u8; MAX_CARDS];

impl SeenGame {
    /// A game of a whole deck in which the observer holds this hand, the oldest card first, and sees what
    /// it sees here; the rest of the deck is in random order. Roll-outs of a search play such games.
    /// `None` if the hand is impossible. Hands of [`Belief::sample`] are possible.
    ///
    /// ```
    /// use starmine::rules::{Belief, EpisodeSeed, GameRng, Seat, SeenGame, State, Variant};
    ///
    /// let mut rng = GameRng::for_samples(1);
    /// let state = State::new(Variant::default(), EpisodeSeed::default());
    /// let game = SeenGame::of(&state, Seat::FIRST);
    /// let hand = Belief::new(&game.view()).sample(&mut rng).ok_or("a hand is possible")?;
    /// let supposed = game.with_hand(hand, &mut rng).ok_or("it is this one")?;
    /// assert!(supposed.is_seen_alike(&state, Seat::FIRST));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_hand(
        &self,
        hand: impl IntoIterator<Item = Card>,
        rng: &mut GameRng,
    ) -> Option<State> {
        let state = self.with_hidden(hand, |rest| shuffle(rest, rng))?;
        state.view(self.observer).shows_the_same(&self.view()).then_some(state)
    }

    /// One game of a whole deck that the observer cannot tell from this one. It is a function of what
    /// the observer sees.
    ///
    /// # Panics
    /// Never: [`SeenGame::play`] refuses turns that leave no possible hand.
    #[must_use]
    pub fn stand_in(&self) -> State {
        let belief = Belief::new(&self.view());
        let hand = belief.sample(&mut GameRng::for_samples(0)).expect("a hand is possible");
        self.with_hidden(hand, |_| ()).expect("the hand is possible")
    }

    /// The turns with this own hand; `order` puts the rest of the deck in order. `None` if there are no
    /// such cards, or if they do not allow the turns.
    fn with_hidden(
        &self,
        hand: impl IntoIterator<Item = Card>,
        order: impl FnOnce(&mut [Card]),
    ) -> Option<State> {
        let (variant, own) = (&self.variant, self.own_hand());
        let hand: Vec<Card> = hand.into_iter().collect();
        if hand.len() != own.size || hand.iter().any(|&card| !variant.has_card(card)) {
            return None;
        }
        let known = self.seen_cards.map(|seen| seen.map(|kind| variant.card_unchecked(kind)));
        let mut deck = known[..variant.deck_size().into()].to_vec();
        own.places().zip(hand).for_each(|(place, card)| deck[place] = Some(card));
        let mut left = [0; MAX_CARD_KINDS];
        let copies = variant.card_kinds().map(|card| variant.copies(card));
        left.iter_mut().zip(copies).for_each(|(left, copies)| *left = copies);
        for &card in deck.iter().flatten() {
            let left = &mut left[variant.card_index_unchecked(card)];
            *left = left.checked_sub(1)?;
        }
        let copies = |(card, left): (Card, &u8)| std::iter::repeat_n(card, usize::from(*left));
        let mut rest: Vec<Card> = variant.card_kinds().zip(&left).flat_map(copies).collect();
        order(&mut rest);
        let mut rest = rest.into_iter();
        let deck = deck.into_iter().map(|card| card.or_else(|| rest.next())).collect::<Option<_>>();
        let mut state =
            State::from_deck(variant.clone(), deck?, self.positions[0].current_player).ok()?;
        for event in &self.history {
            state.play(event.played).ok()?;
        }
        Some(state)
    }

    /// The cards of the deck where this is the observer's hand.
    pub(crate) fn supposed_cards(&self, hand: &[u8]) -> SupposedCards {
        let mut cards = self.seen_cards.map(Option::unwrap_or_default);
        self.own_hand().places().zip(hand).for_each(|(place, &card)| cards[place] = card);
        cards
    }

    /// The position before a turn, or after the last one, with these cards.
    pub(crate) fn supposed_position(&self, turn: usize, cards: &SupposedCards) -> Position {
        let mut hand = [0; MAX_HAND_SIZE];
        let own = &self.own_hands[turn];
        hand.iter_mut().zip(own.places()).for_each(|(card, place)| *card = cards[place]);
        self.view_before(turn).position_with_hand(&hand[..own.size])
    }
}

/// Puts cards into random order.
fn shuffle(cards: &mut [Card], rng: &mut GameRng) {
    for last in (1..cards.len()).rev() {
        cards.swap(last, rng.below(last as u32 + 1) as usize);
    }
}
