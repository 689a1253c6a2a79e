//! Hat guessing: every hint, and every discard of one of several useless cards, says a number to
//! all other seats at once. The number is a sum; each seat sees all other terms and so finds its
//! own, which answers questions about its hand that everybody can tell from what everybody knows.
//!
//! After `InfoBot` of Arthur O'Dwyer's Hanabi framework (<https://github.com/Quuxplusone/Hanabi>),
//! which goes back to Jeff Wu's information strategy and to Cox, De Silva, DeOrsey, Kenter, Retter
//! and Tobin, "How to make the perfect fireworks display: two strategies for Hanabi", 2015.

mod board;
mod choice;
mod code;
mod copies;
mod hand;
mod questions;
#[cfg(test)]
mod tests;

use board::Board;
use code::HintCode;
use copies::Copies;
use hand::Hand;

use super::bot::{Bot, Turn};
use crate::rules::{Event, GameRng, Hint, MAX_PLAYERS, Move, SlotSet, Variant, View};

/// A hat guesser for the base game.
#[derive(Clone, Debug)]
pub struct Info {
    players: usize,
    hand_size: usize,
    board: Board,
    /// By offset: the own hand first.
    hands: [Hand; MAX_PLAYERS],
    /// The hands as they will be known once the own hint, which is chosen already, has said the
    /// others' answers.
    spoken: Option<[Hand; MAX_PLAYERS]>,
}

/// The answers of all seats but the one that says it, added up.
#[derive(Clone, Copy, Debug)]
struct Sum {
    modulus: u32,
    number: u32,
}

impl Info {
    /// A bot that waits for its first game of this variant.
    #[must_use]
    pub fn new(variant: &Variant) -> Info {
        let hand_size = usize::from(variant.hand_size());
        Info {
            players: variant.players().into(),
            hand_size,
            board: Board::new(),
            hands: [Hand::unknown(hand_size); MAX_PLAYERS],
            spoken: None,
        }
    }

    /// The other seats by offset, from the one after this on.
    fn others(&self, offset: usize) -> impl Iterator<Item = usize> + use<> {
        (offset + 1..self.players).chain(0..offset)
    }

    /// A seat said a sum: everybody learns its own answers.
    fn learn(&mut self, speaker: usize, sum: Sum, before: &View<'_>) {
        let Sum { modulus, number } = sum;
        let hands = &mut self.hands[..self.players];
        let others = note_others(hands, speaker, modulus, before, &self.board);
        if speaker != 0 {
            let own = (number + modulus - others) % modulus;
            questions::note_number(&mut hands[0], own, modulus, &self.board);
        }
    }

    fn observe_hint(&mut self, turn: &Turn<'_>, hinted: usize, hint: Hint) {
        let speaker = turn.before.offset(turn.event.seat.into());
        let target = turn.before.variant().seat_after(speaker, hinted) % self.players;
        if let Some(hands) = self.spoken.take().filter(|_| speaker == 0) {
            self.hands = hands;
        } else {
            let (mut modulus, mut number) = (0, 0);
            for offset in self.others(speaker) {
                if offset == target {
                    let (code, count) = HintCode::of(&self.hands[target], &self.board);
                    number = modulus + code.number(hint, turn.event.touched);
                    modulus += count;
                } else {
                    modulus += HintCode::count(&self.hands[offset]);
                }
            }
            self.learn(speaker, Sum { modulus, number }, &turn.before);
        }
        self.hands[target].tell(hint, turn.event.touched);
    }

    fn observe_discard(&mut self, turn: &Turn<'_>, slot: usize) {
        let speaker = turn.before.offset(turn.event.seat.into());
        let useless = self.hands[speaker].useless(&self.board);
        let modulus = useless.len() as u32;
        if modulus > 1 && useless.contains(slot) {
            let number = (useless & SlotSet::first_slots(slot)).len() as u32;
            self.learn(speaker, Sum { modulus, number }, &turn.before);
        }
    }

    /// A card left a hand and is known now; another one may have been drawn.
    fn observe_card(&mut self, turn: &Turn<'_>, slot: usize) {
        let Event { seat, card: Some(card), added, .. } = turn.event else { return };
        let hand = &mut self.hands[turn.before.offset(seat.into())];
        hand.remove(slot);
        if turn.before.deck_size() > 0 {
            hand.push(Copies::ALL);
        }
        self.board.reveal(card, added);
        for hand in &mut self.hands[..self.players] {
            hand.keep(self.board.left);
        }
    }
}

/// Notes the answers of all seats but the observer and the speaker. Their sum.
fn note_others(
    hands: &mut [Hand],
    speaker: usize,
    modulus: u32,
    view: &View<'_>,
    board: &Board,
) -> u32 {
    let mut sum = 0;
    for (offset, hand) in hands.iter_mut().enumerate().skip(1) {
        if offset != speaker {
            sum += questions::note_cards(hand, view.hand_indices(offset), modulus, board);
        }
    }
    sum % modulus
}

impl Bot for Info {
    fn start(&mut self, _: &View<'_>, _: GameRng) {
        self.board = Board::new();
        self.hands = [Hand::unknown(self.hand_size); MAX_PLAYERS];
        self.spoken = None;
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
        self.spoken = None;
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        let chosen = self.choose(view);
        if view.is_legal(chosen) {
            return chosen;
        }
        // Only others who do not keep to the conventions can make it choose such a move.
        let action = view.legal_actions().iter().next().unwrap_or(0);
        view.variant().action_to_move(action as i64).unwrap_or(chosen)
    }
}
