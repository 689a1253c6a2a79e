//! The choice of a move.

use super::InfoBot;
use super::hint_code::HintCode;
use super::questions::SlotQuestions;
use crate::bots::common::first_best;
use crate::bots::hat_guessing::hand_knowledge::HandKnowledge;
use crate::bots::hat_guessing::private_knowledge::{PrivateKnowledge, gain};
use crate::bots::hat_guessing::public_knowledge::Questions;
use crate::rules::{Hint, MAX_PLAYERS, Move, Offset, Slot, Suit, View};

impl InfoBot {
    /// The move by the conventions, which may be illegal beside partners that violate them.
    pub(super) fn choose(&mut self, view: &View<'_>) -> Move {
        let public = self.public;
        let private = PrivateKnowledge::new(&public, view);
        if let Some(slot) = private.best_play::<f64>() {
            return Move::Play { slot: Slot::at(slot) };
        }
        let is_early = private.can_spare_turns();
        if is_early
            && view.may_misplay()
            && let Some(slot) = private.risky_play()
        {
            return Move::Play { slot: Slot::at(slot) };
        }
        if !view.may_discard() {
            return self.hint(view);
        }
        let somebody_can_play = private.seen().intersects(public.left.outlook.playable);
        let wants_hint = view.may_hint() && somebody_can_play;
        // Late in the game a hint is better than a useless discard, since the deck lasts longer.
        if wants_hint && !is_early {
            return self.hint(view);
        }
        if let Some(slot) = self.useless_slot(view, &private.own) {
            return Move::Discard { slot };
        }
        if wants_hint {
            return self.hint(view);
        }
        Move::Discard { slot: Slot::at(private.least_needed::<f64>()) }
    }

    /// A useless slot. If several are commonly known, the choice among them sends a number.
    fn useless_slot(&self, view: &View<'_>, own: &HandKnowledge) -> Option<Slot> {
        let mut public = self.public;
        let useless = public.hands[0].useless(&public.left);
        if useless.len() > 1 {
            return useless.iter().nth(public.send::<SlotQuestions>(view, useless.len()));
        }
        own.useless(&public.left).oldest()
    }

    /// The hint that sends the sum of the others' answers and, among those, reveals the most by
    /// itself.
    fn hint(&mut self, view: &View<'_>) -> Move {
        let players = self.public.players;
        let mut counts = [0; MAX_PLAYERS];
        for (count, hand) in counts.iter_mut().zip(&self.public.hands[..players]).skip(1) {
            *count = HintCode::count(hand);
        }
        let modulus = counts.iter().sum::<u32>() as usize;
        let mut sent = self.public;
        let mut number = sent.send::<SlotQuestions>(view, modulus) as u32;
        self.after_own_hint = Some(sent);
        let mut offset = 1;
        while offset + 1 < players && number >= counts[offset] {
            number -= counts[offset];
            offset += 1;
        }
        // InfoBot rates hints as if those to each seat encoded three numbers.
        let usual = 3 * (players - 1);
        let mut hand = sent.hands[offset];
        if modulus != usual {
            hand = self.public.hands[offset];
            let cards = view.hand_indices(Offset::at(offset));
            SlotQuestions::note_cards(&mut hand, &self.public.left, usual, cards);
        }
        let hint = self.best_hint(view, offset, number, &hand);
        Move::Hint { offset: Offset::at(offset), hint }
    }

    /// The hint to this seat that encodes the number and has the largest gain.
    fn best_hint(&self, view: &View<'_>, offset: usize, number: u32, hand: &HandKnowledge) -> Hint {
        let (code, _) = HintCode::of(&self.public.hands[offset], &self.public.left);
        let hints = view
            .hand(Offset::at(offset))
            .flat_map(|card| [Hint::Color(card.suit), Hint::Rank(card.rank)]);
        let rated = hints.filter_map(|hint| {
            let touched = hint.touched(view.hand(Offset::at(offset)));
            let gain = || gain::<f64>(hand, hint, touched, &self.public.left);
            (code.number(hint, touched) == number).then(|| (hint, gain()))
        });
        let best = first_best(rated.filter(|(_, gain)| !gain.is_nan()));
        best.map_or(Hint::Color(Suit::ALL[0]), |(hint, _)| hint)
    }
}
