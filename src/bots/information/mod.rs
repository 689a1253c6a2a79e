//! `information`: the information strategy of Jeff Wu's <https://github.com/WuTheFWasThat/hanabi.rs>.
//!
//! It plays by hat guessing, an idea of Cox, De Silva, DeOrsey, Kenter, Retter and Tobin, "How to make
//! the perfect fireworks display: two strategies for Hanabi", 2015. Each hint, and each discard of one
//! of several useless cards, sends a number to all other seats at once. The number is the sum of one
//! term for each receiver, modulo the number of messages. A receiver sees all other hands, computes
//! their terms, and so finds its own term. The term answers questions about its hand, and everybody
//! can derive the questions from the common knowledge.
//!
//! - `hand_knowledge`, `suits_and_ranks`: what may be in a hand, and the suits and ranks of these kinds
//! - `hand_question`, `slot_probabilities`: the questions about a hand, and the number that their answers make
//! - `public_knowledge`, `private_knowledge`: what all seats know, and what the seat to act knows
//! - `hint_messages`, `move_choice`: the messages that hints can send, and the choice of a move

mod hand_knowledge;
mod hand_question;
mod hint_messages;
mod move_choice;
mod private_knowledge;
mod public_knowledge;
mod slot_probabilities;
mod suits_and_ranks;

use self::hint_messages::HintMessages;
use self::move_choice::{choose, note_missing_hint};
use self::public_knowledge::{PublicKnowledge, mend};
use super::bot::{Bot, Turn};
use super::common::base_game;
use crate::rules::{
    Event, GameRng, Hint, Move, Offset, Slot, SlotSet, UnsupportedVariantError, Variant, View,
};

/// A hat guesser. A message answers which card of a hand is playable, which is dead, or which kind
/// a card is. Supports the base game.
#[derive(Clone, Debug, Default)]
pub struct Information {
    public: PublicKnowledge,
    /// The bot's move of this turn, and the common knowledge after it.
    chosen: Option<(Move, PublicKnowledge)>,
}

/// Applies the meaning of a seat's move, before its visible result is applied.
fn interpret(public: &mut PublicKnowledge, before: &View<'_>, sender: usize, event: &Event) {
    match event.played {
        Move::Hint { .. } => {
            let messages = HintMessages::of_hints(public, sender);
            let message = messages.of_hint(public, event);
            public.receive(before, sender, messages.total, message);
        }
        Move::Discard { slot } => {
            let useless = public.hands[sender].useless(&public.left);
            if before.may_hint() {
                note_missing_hint(public, sender);
            }
            if useless.len() > 1 && useless.contains(slot) {
                let message = (useless & SlotSet::first_slots(slot.index())).len();
                public.receive(before, sender, useless.len(), message);
            }
        }
        Move::Play { .. } | Move::AnnouncedPlay { .. } => {}
    }
}

impl Bot for Information {
    fn check_variant(&self, variant: &Variant) -> Result<(), UnsupportedVariantError> {
        base_game::check("information", variant)
    }

    fn is_deterministic(&self, _: &Variant) -> bool {
        true
    }

    fn start(&mut self, view: &View<'_>, _: GameRng) {
        *self = Information { public: PublicKnowledge::new(view), chosen: None };
    }

    fn observe(&mut self, turn: &Turn<'_>) {
        let event = &turn.event;
        let offset = turn.after.offset(event.seat).index();
        match self.chosen.take() {
            Some((played, public)) if offset == 0 && played == event.played => self.public = public,
            _ => interpret(&mut self.public, &turn.before, offset, event),
        }
        self.public.observe_result(&turn.after, offset, event);
        for offset in 0..self.public.players {
            let left = self.public.left.copies.at_least_one();
            mend(&mut self.public.hands[offset], &turn.after, offset, left);
        }
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        let mut public = self.public;
        if let Some(played) = choose(&mut public, view).filter(|&played| view.is_legal(played)) {
            self.chosen = Some((played, public));
            return played;
        }
        // Only possible if a partner violates the conventions. Slot 0 can always be played.
        let next = view.hand(Offset::NEXT).next().map(|card| Hint::Rank(card.rank));
        let hint = next.map(|hint| Move::Hint { offset: Offset::NEXT, hint });
        hint.filter(|&hint| view.is_legal(hint)).unwrap_or(Move::Play { slot: Slot::OLDEST })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::bots::games::bot_table::BotTable;
    use crate::rules::{EpisodeSeed, Parameters, Seat, State, Variant};

    fn assert_agreement(bots: &[&Information], state: &State) {
        let variant = state.variant();
        for (seat, bot) in bots.iter().enumerate() {
            for (offset, hand) in bot.public.hands[..bots.len()].iter().enumerate() {
                let owner = variant
                    .seat_after_unchecked(Seat::new_unchecked(seat), Offset::new_unchecked(offset));
                assert_eq!(*hand, bots[owner.index()].public.hands[0], "{state}");
                let cards = state.position().hand(variant, owner);
                for (card, known) in cards.zip(hand.cards()) {
                    assert!(known.contains(variant.card_index_unchecked(card)), "{state}");
                }
            }
        }
    }

    #[test]
    fn common_knowledge_is_equal_in_all_seats_and_true() {
        for players in 2..=5 {
            let parameters = Parameters { players, ..Parameters::default() };
            let variant = Arc::new(Variant::new(parameters).unwrap());
            for game in 0..20 {
                let seed = EpisodeSeed { seed: 1, game, episode: 0 };
                let mut table = BotTable::new(State::new(variant.clone(), seed));
                while table.state.ending().is_none() {
                    let chosen = table.choice();
                    table.play(chosen);
                    assert_agreement(&table.bots(), &table.state);
                }
            }
        }
    }
}
