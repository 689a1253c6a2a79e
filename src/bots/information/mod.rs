//! The information strategy of `WuTheFWasThat/hanabi.rs`.

mod copies;
mod decision;
mod hand;
mod messages;
mod public;
mod question;
mod shares;

use super::bot::{Bot, Turn};
use crate::rules::{GameRng, Hint, Move, View};
use decision::decide;
use public::Public;

/// Says something to all teammates at once by each hint and by many discards, as in hat guessing:
/// the sum of numbers that each hand has. Everybody sees all other hands and so learns the number
/// of his own, which answers questions about it: which card is playable, which is dead, or which
/// one it is.
///
/// After the information strategy of `WuTheFWasThat/hanabi.rs`, which goes back to Cox et al.,
/// "How to Make the Perfect Fireworks Display", 2015. Plays the base game.
#[derive(Clone, Debug, Default)]
pub struct Information {
    public: Public,
    /// The own move, and what everybody knows by it.
    chosen: Option<(Move, Public)>,
}

impl Information {
    /// A bot that waits for its first game.
    #[must_use]
    pub fn new() -> Information {
        Information::default()
    }
}

impl Bot for Information {
    fn start(&mut self, view: &View<'_>, _: GameRng) {
        *self = Information { public: Public::new(view), chosen: None };
    }

    fn observe(&mut self, turn: &Turn<'_>) {
        let event = &turn.event;
        let offset = turn.after.offset(event.seat.into());
        match self.chosen.take() {
            Some((played, public)) if offset == 0 && played == event.played => self.public = public,
            _ => self.public.interpret(&turn.before, offset, event),
        }
        self.public.witness(&turn.after, offset, event);
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        let mut public = self.public;
        if let Some(played) = decide(&mut public, view).filter(|&played| view.is_legal(played)) {
            self.chosen = Some((played, public));
            return played;
        }
        // Only where others do not play as we think. The oldest card can always be played.
        let next = view.hand(1).next().map(|card| Hint::Rank(card.rank));
        let hint = next.map(|hint| Move::Hint { offset: 1, hint });
        hint.filter(|&hint| view.is_legal(hint)).unwrap_or(Move::Play { slot: 0 })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::bots::{bot, play_games};
    use crate::rules::{EpisodeSeed, Parameters, State, Variant};

    fn variant(players: i64) -> Arc<Variant> {
        Arc::new(Variant::new(Parameters { players, ..Parameters::default() }).unwrap())
    }

    /// Plays a turn of these bots.
    fn play(bots: &mut [Information], state: &mut State) {
        let before = state.clone();
        let seat = state.position().current_player();
        let played = bots[seat].act(&state.view(seat));
        state.apply(state.variant().move_to_action(played).unwrap() as i64).unwrap();
        for (seat, bot) in bots.iter_mut().enumerate() {
            let event = state.history().last().unwrap().seen_by(seat);
            bot.observe(&Turn { before: before.view(seat), event, after: state.view(seat) });
        }
    }

    fn assert_agreement(bots: &[Information], state: &State) {
        let variant = state.variant();
        for (seat, bot) in bots.iter().enumerate() {
            for (offset, hand) in bot.public.hands[..bots.len()].iter().enumerate() {
                let owner = variant.seat_after(seat, offset);
                assert_eq!(*hand, bots[owner].public.hands[0], "{state}");
                let cards = state.position().hand(variant, owner);
                for (card, known) in cards.zip(hand.cards()) {
                    assert!(known.kinds().contains(variant.card_index(card)), "{state}");
                }
            }
        }
    }

    /// Each bot takes its own number off a sum of which it sees all other parts, so all of them
    /// come to know the same, and nothing false.
    #[test]
    fn all_know_the_same_about_every_hand() {
        for players in 2..=5 {
            let variant = variant(players);
            for game in 0..20 {
                let mut state =
                    State::new(variant.clone(), EpisodeSeed { seed: 1, game, episode: 0 });
                let mut bots = vec![Information::new(); players as usize];
                for (seat, bot) in bots.iter_mut().enumerate() {
                    bot.start(&state.view(seat), GameRng::new(EpisodeSeed::default()));
                }
                while state.ending().is_none() {
                    play(&mut bots, &mut state);
                    assert_agreement(&bots, &state);
                }
            }
        }
    }

    #[test]
    fn it_plays_legally_whatever_the_others_do() {
        for players in 2..=5 {
            let variant = variant(players);
            for other in ["random", "cheater"] {
                let name = |seat: i64| if seat % 2 == 0 { "information" } else { other };
                let player = |seat| bot(name(seat)).unwrap().player(&variant).unwrap();
                let seats: Vec<_> = (0..players).map(player).collect();
                play_games(&variant, &seats, 0, 0..100, 1).unwrap();
            }
        }
    }
}
