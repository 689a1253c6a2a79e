use super::copies::Copies;
use super::hand::{Hand, Prospects};
use super::messages::Messages;
use super::question::Question;
use crate::rules::{Event, Move, View};

/// Players of the largest game.
pub(super) const MOST_PLAYERS: usize = 5;

/// What everybody knows and knows everybody to know. A seat is given by its offset from the
/// observer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Public {
    pub hands: [Hand; MOST_PLAYERS],
    /// The copies that are neither played nor discarded.
    pub left: Copies,
    pub players: usize,
    /// What can become of the cards.
    pub prospects: Prospects,
}

impl Public {
    /// Of a game that begins.
    pub fn new(view: &View<'_>) -> Public {
        let mut public = Public {
            left: Copies::ALL,
            players: view.variant().players().into(),
            prospects: view.outlook().into(),
            ..Public::default()
        };
        for offset in 0..public.players {
            public.hands[offset] = Hand::of(view.hand_size(offset), Copies::ALL);
        }
        public
    }

    /// The offset of the seat at this distance from another one.
    pub fn offset_after(&self, offset: usize, distance: usize) -> usize {
        (offset + distance) % self.players
    }

    /// What the observer says to everybody by one of so many messages: the sum of the numbers of
    /// all other hands. All then know what each of them knows.
    pub fn say(&mut self, view: &View<'_>, messages: usize) -> usize {
        self.sum_of_teammates(view, 0, messages) % messages
    }

    /// Learns from one of so many messages that a seat sent. Everybody else takes the hands that
    /// he sees off the sum, and what is left is the number of his own.
    fn hear(&mut self, view: &View<'_>, sender: usize, messages: usize, sum: usize) {
        let others = self.sum_of_teammates(view, sender, messages) % messages;
        if sender != 0 {
            let own = (messages + sum - others) % messages;
            self.hands[0].learn(&self.prospects, messages, own);
        }
    }

    fn sum_of_teammates(&mut self, view: &View<'_>, sender: usize, messages: usize) -> usize {
        let offsets = (1..self.players).filter(|&offset| offset != sender);
        let hands = &mut self.hands;
        let numbers = offsets
            .map(|offset| hands[offset].show(&self.prospects, messages, view.hand_indices(offset)));
        numbers.sum()
    }

    /// Learns what a seat meant by its move, before its outcome is looked at.
    pub fn interpret(&mut self, before: &View<'_>, sender: usize, event: &Event) {
        match event.played {
            Move::Hint { .. } => {
                let messages = Messages::of_hints(self, sender);
                let sum = messages.of_hint(self, event);
                self.hear(before, sender, messages.total, sum);
            }
            Move::Discard { slot } => {
                let useless = self.hands[sender].useless(&self.prospects);
                if before.information_tokens() > 0 {
                    self.nobody_needs_a_hint(sender);
                }
                let slots = useless.0.count_ones() as usize;
                if slots > 1 && useless.contains(slot.into()) {
                    let sum = (useless.0 & ((1 << slot) - 1)).count_ones();
                    self.hear(before, sender, slots, sum as usize);
                }
            }
            Move::Play { .. } | Move::AnnouncedPlay { .. } => {}
        }
    }

    /// A seat could have given a hint and did not: whoever does not know a playable card has none.
    pub fn nobody_needs_a_hint(&mut self, sender: usize) {
        for offset in (0..self.players).filter(|&offset| offset != sender) {
            if !self.hands[offset].knows_playable(&self.prospects) {
                self.hands[offset].deny(self.prospects.playable);
            }
        }
    }

    /// Learns what a seat's move showed to everybody.
    pub fn witness(&mut self, after: &View<'_>, offset: usize, event: &Event) {
        match (event.played, event.card) {
            (Move::Hint { offset: distance, hint }, _) => {
                let target = self.offset_after(offset, distance.into());
                self.hands[target].told(hint, event.touched);
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
                self.hands.iter_mut().for_each(|hand| hand.limit(self.left));
                self.prospects = after.outlook().into();
            }
            _ => {}
        }
        for offset in 0..self.players {
            self.hands[offset].mend(after, offset, self.left);
        }
    }
}

impl Hand {
    /// The number that the answers about a hand of these cards make, below `room`: each question
    /// is worth as much as the ones before it have answers. All then know the answers.
    fn show(&mut self, prospects: &Prospects, mut room: usize, cards: &[u8]) -> usize {
        let (mut number, mut worth) = (0, 1);
        let mut question = Question::new();
        while question.advance(self, prospects, room) {
            let answer = question.answer(cards);
            question.learn(answer, self);
            number += worth * answer;
            worth *= question.answers();
            room = (room - answer - 1) / question.answers() + 1;
        }
        number
    }

    /// Learns the answers that made this number.
    fn learn(&mut self, prospects: &Prospects, mut room: usize, mut number: usize) {
        let mut question = Question::new();
        while question.advance(self, prospects, room) {
            let answer = number % question.answers();
            question.learn(answer, self);
            number /= question.answers();
            room = (room - answer - 1) / question.answers() + 1;
        }
    }
}
