//! `information`: the information strategy of <https://github.com/WuTheFWasThat/hanabi.rs>.

mod hand_question;
mod hint_messages;
mod move_choice;
mod slot_probabilities;

use self::hand_question::HandQuestions;
use self::hint_messages::HintMessages;
use self::move_choice::{choose, note_missing_hint};
use super::public_knowledge::{PublicKnowledge, mend};
use crate::bots::bot::{Bot, Turn};
use crate::bots::common::base_game;
use crate::rules::{
    Event, GameRng, Hint, Move, Offset, Slot, SlotSet, UnsupportedVariantError, Variant, View,
};

/// A hat guesser. A message answers which card of a hand is playable, which is dead, or which kind
/// a card is. Supports the base game.
#[derive(Clone, Debug, Default)]
pub struct InformationStrategy {
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
            public.receive::<HandQuestions>(before, sender, messages.total, message);
        }
        Move::Discard { slot } => {
            let useless = public.hands[sender].useless(&public.left);
            if before.may_hint() {
                note_missing_hint(public, sender);
            }
            if useless.len() > 1 && useless.contains(slot) {
                let message = (useless & SlotSet::first_slots(slot.index())).len();
                public.receive::<HandQuestions>(before, sender, useless.len(), message);
            }
        }
        Move::Play { .. } | Move::AnnouncedPlay { .. } => {}
    }
}

impl Bot for InformationStrategy {
    fn check_variant(&self, variant: &Variant) -> Result<(), UnsupportedVariantError> {
        base_game::check("information", variant)
    }

    fn is_deterministic(&self, _: &Variant) -> bool {
        true
    }

    fn start(&mut self, view: &View<'_>, _: GameRng) {
        *self = InformationStrategy { public: PublicKnowledge::new(view), chosen: None };
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
            let left = self.public.left.copies.some();
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
    use crate::bots::games::table::Table;
    use crate::bots::{GamesOptions, bot, play_games};
    use crate::rules::{EpisodeSeed, Parameters, Seat, State, Variant};

    fn variant(players: u8) -> Arc<Variant> {
        Arc::new(
            Variant::new(Parameters { players: players.into(), ..Parameters::default() }).unwrap(),
        )
    }

    fn assert_agreement(bots: &[&InformationStrategy], state: &State) {
        let variant = state.variant();
        for (seat, bot) in bots.iter().enumerate() {
            for (offset, hand) in bot.public.hands[..bots.len()].iter().enumerate() {
                let owner = variant.seat_after_unchecked(Seat::at(seat), Offset::at(offset));
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
            let variant = variant(players);
            for game in 0..20 {
                let seed = EpisodeSeed { seed: 1, game, episode: 0 };
                let mut table = Table::new(State::new(variant.clone(), seed));
                while table.state.ending().is_none() {
                    let chosen = table.choice();
                    table.play(chosen);
                    assert_agreement(&table.bots(), &table.state);
                }
            }
        }
    }

    #[test]
    fn it_plays_legally_beside_partners_without_conventions() {
        for players in 2..=5 {
            let variant = variant(players);
            for other in ["random", "cheater"] {
                let name = |seat: u8| if seat.is_multiple_of(2) { "information" } else { other };
                let player = |seat| bot(name(seat)).unwrap().player(&variant).unwrap();
                let seats: Vec<_> = (0..players).map(player).collect();
                play_games(&variant, &seats, 0..100, GamesOptions::seeded(0)).unwrap();
            }
        }
    }
}
