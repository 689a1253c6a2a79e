use super::hand_question::{learn_number, note_number};
use crate::bots::hat_guessing::copies::{Copies, CopiesOutlook};
use crate::bots::hat_guessing::hand_knowledge::HandKnowledge;
use crate::rules::{Event, MAX_PLAYERS, Move, View};

/// The common knowledge of all seats. A seat is given by its offset from the observer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PublicKnowledge {
    pub hands: [HandKnowledge; MAX_PLAYERS],
    /// The copies that are neither played nor discarded.
    pub left: Copies,
    pub players: usize,
    pub outlook: CopiesOutlook,
}

impl PublicKnowledge {
    /// The knowledge at the start of a game.
    pub fn new(view: &View<'_>) -> PublicKnowledge {
        let mut public = PublicKnowledge {
            left: Copies::ALL,
            players: view.variant().players().into(),
            outlook: view.outlook().into(),
            ..PublicKnowledge::default()
        };
        for offset in 0..public.players {
            public.hands[offset] = HandKnowledge::of(view.hand_size(offset), Copies::ALL);
        }
        public
    }

    /// The offset of the seat at this distance from another one.
    pub fn offset_after(&self, offset: usize, distance: usize) -> usize {
        (offset + distance) % self.players
    }

    /// Whether a seat has a slot that is commonly known to be playable.
    pub fn knows_playable(&self, offset: usize) -> bool {
        self.hands[offset].cards().iter().any(|copies| copies.is_subset(self.outlook.playable))
    }

    /// The message that the observer sends, below `messages`: the sum of the numbers of all other
    /// hands. Applies what each receiver learns from it.
    pub fn send(&mut self, view: &View<'_>, messages: usize) -> usize {
        self.sum_of_visible_hands(view, 0, messages) % messages
    }

    /// Applies a message that a seat sent. Each receiver subtracts the numbers of the hands that it
    /// sees; the rest is the number of its own hand.
    pub fn receive(&mut self, view: &View<'_>, sender: usize, messages: usize, sum: usize) {
        let others = self.sum_of_visible_hands(view, sender, messages) % messages;
        if sender != 0 {
            let own = (messages + sum - others) % messages;
            learn_number(&mut self.hands[0], &self.outlook, messages, own);
        }
    }

    fn sum_of_visible_hands(&mut self, view: &View<'_>, sender: usize, messages: usize) -> usize {
        let offsets = (1..self.players).filter(|&offset| offset != sender);
        let (hands, outlook) = (&mut self.hands, &self.outlook);
        let numbers = offsets.map(|offset| {
            note_number(&mut hands[offset], outlook, messages, view.hand_indices(offset))
        });
        numbers.sum()
    }

    /// A seat had a token and gave no hint: a seat that knows no playable card has none.
    pub fn note_missing_hint(&mut self, sender: usize) {
        for offset in (0..self.players).filter(|&offset| offset != sender) {
            if !self.knows_playable(offset) {
                let playable = self.outlook.playable;
                self.hands[offset].cards_mut().iter_mut().for_each(|copies| *copies -= playable);
            }
        }
    }

    /// Applies the visible result of a seat's move.
    pub fn observe_result(&mut self, after: &View<'_>, offset: usize, event: &Event) {
        match (event.played, event.card) {
            (Move::Hint { offset: distance, hint }, _) => {
                let target = self.offset_after(offset, distance.into());
                self.hands[target].apply_hint(hint, event.touched);
            }
            (
                Move::Play { slot } | Move::Discard { slot } | Move::AnnouncedPlay { slot, .. },
                Some(card),
            ) => {
                self.hands[offset].remove(slot.into());
                if self.hands[offset].size < after.hand_size(offset) {
                    self.hands[offset].push(self.left);
                }
                self.left.remove(after.variant().card_index(card));
                self.hands.iter_mut().for_each(|hand| hand.keep(self.left));
                self.outlook = after.outlook().into();
            }
            _ => {}
        }
        for offset in 0..self.players {
            mend(&mut self.hands[offset], after, offset, self.left);
        }
    }
}

/// Resets slots for which no copy remains possible, because a partner violated the conventions, to
/// the hints and the remaining copies.
pub(super) fn mend(hand: &mut HandKnowledge, view: &View<'_>, offset: usize, left: Copies) {
    for (slot, copies) in hand.cards_mut().iter_mut().enumerate() {
        if copies.is_empty() {
            let plausible = view.knowledge(offset, slot).plausible_set(view.variant());
            *copies = Copies::of(plausible) & left;
        }
    }
}
