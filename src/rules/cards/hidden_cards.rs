//! Games that a seat cannot tell apart: the same turns with other cards where it sees none.

use crate::rules::cards::card::Card;
use crate::rules::game::rng::GameRng;
use crate::rules::limits::MAX_CARD_KINDS;
use crate::rules::small_index::Seat;
use crate::rules::turns::event::Event;
use crate::rules::variants::variant::Variant;
use crate::rules::views::view::View;

/// What a seat knows of the deck.
pub(in crate::rules) struct SeenDeck<'a> {
    pub variant: &'a Variant,
    pub observer: Seat,
    /// The turns; own draws may be hidden.
    pub history: &'a [Event],
}

impl SeenDeck<'_> {
    /// The deck with which the observer holds this hand, the oldest card first. `first_card` gives the
    /// teammates' first cards by their places in the deck, `order` puts the rest of the deck in
    /// order. `None` if there are no such cards.
    pub fn deck(
        &self,
        first_card: impl Fn(usize) -> Card,
        hand: impl IntoIterator<Item = Card>,
        order: impl FnOnce(&mut [Card]),
    ) -> Option<Vec<Card>> {
        let (variant, size) = (self.variant, usize::from(self.variant.hand_size()));
        let mut left = [0; MAX_CARD_KINDS];
        let copies = variant.card_kinds().map(|card| variant.copies(card));
        left.iter_mut().zip(copies).for_each(|(left, copies)| *left = copies);
        let mut deck = vec![None; variant.deck_size().into()];
        let mut put = |at: usize, card: Card| -> Option<()> {
            let left = &mut left[variant.card_index(card)];
            *left = left.checked_sub(1)?;
            deck[at] = Some(card);
            Some(())
        };

        let mut drawn = size * usize::from(variant.players());
        let mut own: Vec<usize> =
            (0..size).map(|slot| self.observer.index() * size + slot).collect();
        for at in (0..drawn).filter(|at| !own.contains(at)) {
            put(at, first_card(at))?;
        }
        for event in self.history {
            let Some(slot) = event.played.slot() else { continue };
            let is_own = event.seat == self.observer;
            if is_own {
                put(own.remove(slot.index()), event.card?)?;
            }
            if drawn == usize::from(variant.deck_size()) {
                continue;
            }
            if is_own {
                own.push(drawn);
            } else {
                put(drawn, event.drawn?)?;
            }
            drawn += 1;
        }
        let hand: Vec<Card> = hand.into_iter().collect();
        if hand.len() != own.len() || hand.iter().any(|&card| !variant.has_card(card)) {
            return None;
        }
        own.into_iter().zip(hand).try_for_each(|(at, card)| put(at, card))?;

        let copies = |(card, left): (Card, &u8)| std::iter::repeat_n(card, usize::from(*left));
        let mut rest: Vec<Card> = variant.card_kinds().zip(&left).flat_map(copies).collect();
        order(&mut rest);
        let mut rest = rest.into_iter();
        deck.into_iter().map(|card| card.or_else(|| rest.next())).collect()
    }
}

/// Puts cards into random order.
pub(in crate::rules) fn shuffle(cards: &mut [Card], rng: &mut GameRng) {
    for last in (1..cards.len()).rev() {
        cards.swap(last, rng.below(last as u32 + 1) as usize);
    }
}

/// Whether two views of one seat show the same turns and teammates' hands.
pub(in crate::rules) fn show_the_same(view: &View<'_>, other: &View<'_>) -> bool {
    view.variant() == other.variant()
        && view.history().into_iter().flatten().eq(other.history().into_iter().flatten())
        && view
            .variant()
            .teammates()
            .all(|offset| view.hand_indices(offset) == other.hand_indices(offset))
}
