//! `info`: `InfoBot` of <https://github.com/Quuxplusone/Hanabi>, move for move.

mod hint_code;
mod move_choice;
mod questions;
#[cfg(test)]
mod tests;

use self::hint_code::HintCode;
use self::questions::SlotQuestions;
use super::public_knowledge::PublicKnowledge;
use crate::bots::bot::{Bot, Turn};
use crate::bots::common::base_game;
use crate::rules::{GameRng, Hint, Move, Slot, SlotSet, UnsupportedVariantError, Variant, View};

/// A hat guesser. A hint sends the sum of the receivers' answers. Supports the base game.
#[derive(Clone, Debug, Default)]
pub struct InfoBot {
    public: PublicKnowledge,
    /// The common knowledge after the bot's hint of this turn.
    after_own_hint: Option<PublicKnowledge>,
}

impl InfoBot {
    /// The offsets of the other seats, in turn after the given one.
    fn others(&self, offset: usize) -> impl Iterator<Item = usize> + use<> {
        (offset + 1..self.public.players).chain(0..offset)
    }

    fn observe_hint(&mut self, turn: &Turn<'_>, sender: usize, distance: usize, hint: Hint) {
        if let Some(public) = self.after_own_hint.take().filter(|_| sender == 0) {
            self.public = public;
            return;
        }
        let target = self.public.offset_after(sender, distance);
        let (mut modulus, mut number) = (0, 0);
        for offset in self.others(sender) {
            let hand = &self.public.hands[offset];
            if offset == target {
                let (code, count) = HintCode::of(hand, &self.public.left);
                number = modulus + code.number(hint, turn.event.touched);
                modulus += count;
            } else {
                modulus += HintCode::count(hand);
            }
        }
        let (modulus, number) = (modulus as usize, number as usize);
        self.public.receive::<SlotQuestions>(&turn.before, sender, modulus, number);
    }

    fn observe_discard(&mut self, turn: &Turn<'_>, sender: usize, slot: usize) {
        let useless = self.public.hands[sender].useless(&self.public.left);
        let modulus = useless.len();
        if modulus > 1 && useless.contains(Slot::at(slot)) {
            let number = (useless & SlotSet::first_slots(slot)).len();
            self.public.receive::<SlotQuestions>(&turn.before, sender, modulus, number);
        }
    }
}

impl Bot for InfoBot {
    fn check_variant(&self, variant: &Variant) -> Result<(), UnsupportedVariantError> {
        base_game::check("info", variant)
    }

    fn is_deterministic(&self, _: &Variant) -> bool {
        true
    }

    fn start(&mut self, view: &View<'_>, _: GameRng) {
        *self = InfoBot { public: PublicKnowledge::new(view), after_own_hint: None };
    }

    fn observe(&mut self, turn: &Turn<'_>) {
        let sender = turn.before.offset(turn.event.seat).index();
        match turn.event.played {
            Move::Hint { offset, hint } => self.observe_hint(turn, sender, offset.index(), hint),
            Move::Discard { slot } => self.observe_discard(turn, sender, slot.index()),
            Move::Play { .. } | Move::AnnouncedPlay { .. } => {}
        }
        self.after_own_hint = None;
        self.public.observe_result(&turn.after, sender, &turn.event);
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
