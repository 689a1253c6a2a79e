//! The common knowledge about all hands: what every seat, the owner included, concludes from the
//! turns.

use super::hand_knowledge::{CardsLeft, HandKnowledge};
use super::hand_question::{note_cards, note_number};
use crate::bots::common::base_game;
use crate::bots::common::copy_counts::CopyCounts;
use crate::rules::{CardSet, Event, MAX_PLAYERS, Move, Offset, Slot, View};

/// The common knowledge of all seats. A seat is given by its offset from the observer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PublicKnowledge {
    pub hands: [HandKnowledge; MAX_PLAYERS],
    pub left: CardsLeft,
    pub players: usize,
}

impl PublicKnowledge {
    /// The knowledge at the start of a game.
    pub fn new(view: &View<'_>) -> PublicKnowledge {
        let mut public = PublicKnowledge {
            left: CardsLeft { copies: CopyCounts::BASE_GAME, outlook: view.outlook() },
            players: view.variant().players().into(),
            ..PublicKnowledge::default()
        };
        for offset in 0..public.players {
            public.hands[offset] =
                HandKnowledge::of(view.hand_size(Offset::new_unchecked(offset)), base_game::ALL);
        }
        public
    }

    /// The offset of the seat at this distance from another one.
    pub fn offset_after(&self, offset: usize, distance: usize) -> usize {
        (offset + distance) % self.players
    }

    /// The message that the observer sends, below `modulus`: the sum of the numbers of all other
    /// hands. Applies what each receiver learns from it.
    pub fn send(&mut self, view: &View<'_>, modulus: usize) -> usize {
        self.sum_of_visible_hands(view, 0, modulus) % modulus
    }

    /// Applies a message that a seat sent. Each receiver subtracts the numbers of the hands that it
    /// sees; the rest is the number of its own hand.
    pub fn receive(&mut self, view: &View<'_>, sender: usize, modulus: usize, message: usize) {
        let others = self.sum_of_visible_hands(view, sender, modulus) % modulus;
        if sender != 0 {
            let own_number = (modulus + message - others) % modulus;
            note_number(&mut self.hands[0], &self.left, modulus, own_number);
        }
    }

    fn sum_of_visible_hands(&mut self, view: &View<'_>, sender: usize, modulus: usize) -> usize {
        let mut sum = 0;
        for offset in (1..self.players).filter(|&offset| offset != sender) {
            let (hand, cards) =
                (&mut self.hands[offset], view.hand_indices(Offset::new_unchecked(offset)));
            sum += note_cards(hand, &self.left, modulus, cards);
        }
        sum
    }

    /// Applies the visible result of a seat's move.
    pub fn observe_result(&mut self, after: &View<'_>, seat: usize, event: &Event) {
        match (event.played, event.card) {
            (Move::Hint { offset: distance, hint }, _) => {
                let target = self.offset_after(seat, distance.index());
                self.hands[target].apply_hint(hint, event.touched);
            }
            (
                Move::Play { slot } | Move::Discard { slot } | Move::AnnouncedPlay { slot, .. },
                Some(card),
            ) => {
                let hand = &mut self.hands[seat];
                hand.remove(slot.index());
                if hand.size < after.hand_size(Offset::new_unchecked(seat)) {
                    hand.push(base_game::ALL);
                }
                let CardsLeft { copies, outlook } = &mut self.left;
                copies.remove_if_left(after.variant().card_index_unchecked(card));
                self.hands.iter_mut().for_each(|hand| hand.keep(copies.at_least_one()));
                *outlook = after.outlook();
            }
            _ => {}
        }
    }
}

/// Resets slots for which no kind remains possible, because a partner violated the conventions, to
/// the kinds that the hints allow and that are left.
pub(super) fn mend(hand: &mut HandKnowledge, view: &View<'_>, offset: usize, left: CardSet) {
    for (slot, kinds) in hand.cards_mut().iter_mut().enumerate() {
        if kinds.is_empty() {
            let plausible = view
                .knowledge(Offset::new_unchecked(offset), Slot::new_unchecked(slot))
                .unwrap_or_default()
                .plausible(view.variant());
            *kinds = plausible & left;
        }
    }
}
