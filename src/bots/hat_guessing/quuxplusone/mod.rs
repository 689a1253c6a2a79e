//! `info`: InfoBot of Quuxplusone/Hanabi, move for move.

mod hint_code;
mod move_choice;
mod questions;
#[cfg(test)]
mod tests;

use self::hint_code::HintCode;
use super::copies::{Copies, CopiesOutlook};
use super::hand_knowledge::HandKnowledge;
use crate::bots::bot::{Bot, Turn};
use crate::rules::{Event, GameRng, Hint, MAX_PLAYERS, Move, SlotSet, Variant, View};

/// A hat guesser. A hint sends the sum of the receivers' answers. Supports the base game.
#[derive(Clone, Debug)]
pub struct InfoBot {
    players: usize,
    hand_size: usize,
    /// Copies that are neither played nor discarded.
    left: Copies,
    outlook: CopiesOutlook,
    /// The common knowledge about all hands, by offset.
    hands: [HandKnowledge; MAX_PLAYERS],
    /// The common knowledge after the own hint of this turn.
    after_own_hint: Option<[HandKnowledge; MAX_PLAYERS]>,
}

/// A number that a seat sends: the sum of the receivers' answers.
#[derive(Clone, Copy, Debug)]
struct Message {
    modulus: u32,
    number: u32,
}

impl InfoBot {
    /// A bot before its first game.
    #[must_use]
    pub fn new(variant: &Variant) -> InfoBot {
        InfoBot {
            players: variant.players().into(),
            hand_size: variant.hand_size().into(),
            left: Copies::NONE,
            outlook: CopiesOutlook::default(),
            hands: [HandKnowledge::default(); MAX_PLAYERS],
            after_own_hint: None,
        }
    }

    /// The offsets of the other seats, in turn after the given one.
    fn others(&self, offset: usize) -> impl Iterator<Item = usize> + use<> {
        (offset + 1..self.players).chain(0..offset)
    }

    /// Applies the message of a seat: each receiver learns its own answers, which all others see.
    fn receive(&mut self, sender: usize, message: Message, before: &View<'_>) {
        let Message { modulus, number } = message;
        let hands = &mut self.hands[..self.players];
        let others = questions::note_visible_hands(hands, sender, modulus, before, &self.outlook);
        if sender != 0 {
            let own = (number + modulus - others) % modulus;
            questions::note_number(&mut hands[0], own, modulus, &self.outlook);
        }
    }

    fn observe_hint(&mut self, turn: &Turn<'_>, hinted: usize, hint: Hint) {
        let sender = turn.before.offset(turn.event.seat.into());
        let target = turn.before.variant().seat_after(sender, hinted) % self.players;
        if let Some(hands) = self.after_own_hint.take().filter(|_| sender == 0) {
            self.hands = hands;
        } else {
            let (mut modulus, mut number) = (0, 0);
            for offset in self.others(sender) {
                if offset == target {
                    let (code, count) = HintCode::of(&self.hands[target], &self.outlook);
                    number = modulus + code.number(hint, turn.event.touched);
                    modulus += count;
                } else {
                    modulus += HintCode::count(&self.hands[offset]);
                }
            }
            self.receive(sender, Message { modulus, number }, &turn.before);
        }
        self.hands[target].apply_hint(hint, turn.event.touched);
    }

    fn observe_discard(&mut self, turn: &Turn<'_>, slot: usize) {
        let sender = turn.before.offset(turn.event.seat.into());
        let useless = self.hands[sender].useless(&self.outlook);
        let modulus = useless.len() as u32;
        if modulus > 1 && useless.contains(slot) {
            let number = (useless & SlotSet::first_slots(slot)).len() as u32;
            self.receive(sender, Message { modulus, number }, &turn.before);
        }
    }

    /// A card left a hand and is public; a new one was drawn unless the deck was empty.
    fn observe_card(&mut self, turn: &Turn<'_>, slot: usize) {
        let Event { seat, card: Some(card), .. } = turn.event else { return };
        let hand = &mut self.hands[turn.before.offset(seat.into())];
        hand.remove(slot);
        if turn.before.deck_size() > 0 {
            hand.push(Copies::ALL);
        }
        self.left.remove(turn.before.variant().card_index(card));
        self.outlook = turn.after.outlook().into();
        for hand in &mut self.hands[..self.players] {
            hand.keep(self.left);
        }
    }
}

impl Bot for InfoBot {
    fn start(&mut self, view: &View<'_>, _: GameRng) {
        self.left = Copies::ALL;
        self.outlook = view.outlook().into();
        self.hands = [HandKnowledge::of(self.hand_size, Copies::ALL); MAX_PLAYERS];
        self.after_own_hint = None;
    }

    fn observe(&mut self, turn: &Turn<'_>) {
        match turn.event.played {
            Move::Hint { offset, hint } => self.observe_hint(turn, offset.into(), hint),
            Move::Discard { slot } => {
                self.observe_discard(turn, slot.into());
                self.observe_card(turn, slot.into());
            }
            Move::Play { slot } | Move::AnnouncedPlay { slot, .. } => {
                self.observe_card(turn, slot.into());
            }
        }
        self.after_own_hint = None;
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        let chosen = self.choose(view);
        if view.is_legal(chosen) {
            return chosen;
        }
        // Only possible if a partner violates the conventions.
        view.legal_moves().next().unwrap_or(chosen)
    }
}
