//! The conventions, each in a game that was dealt for it.

use std::sync::Arc;

use super::Fireflower;
use crate::bots::{Bot, Turn};
use crate::rules::{Card, EpisodeSeed, GameRng, Move, Parameters, State, Variant, View};

/// Bots at a table.
struct SelfPlay {
    state: State,
    bots: Vec<Fireflower>,
}

impl SelfPlay {
    /// Deals these hands, the oldest card first, and then these cards of the deck. The rest of the
    /// deck is in index order.
    fn deal(players: i64, cards: &str) -> SelfPlay {
        let parameters = Parameters { players, ..Parameters::default() };
        let variant = Arc::new(Variant::new(parameters).unwrap());
        let mut deck: Vec<Card> = cards.split(' ').map(|card| card.parse().unwrap()).collect();
        for card in variant.card_kinds() {
            let dealt = deck.iter().filter(|&&other| other == card).count();
            deck.extend((dealt..variant.copies(card).into()).map(|_| card));
        }
        let state = State::from_deck(variant, deck, 0).unwrap();
        let mut bots = vec![Fireflower::new(); players as usize];
        for (seat, bot) in bots.iter_mut().enumerate() {
            bot.start(&state.view(seat), GameRng::new(EpisodeSeed::default()));
        }
        SelfPlay { state, bots }
    }

    /// The move that the bot to act chooses.
    fn choice(&mut self) -> Move {
        let seat = self.state.position().current_player();
        self.bots[seat].act(&self.state.view(seat))
    }

    fn play(&mut self, played: &str) {
        let variant = self.state.variant().clone();
        let before = *self.state.position();
        let action = variant.move_to_action(parse(played)).unwrap();
        self.state.apply(action).unwrap();
        let event = *self.state.history().last().unwrap();
        for (seat, bot) in self.bots.iter_mut().enumerate() {
            bot.observe(&Turn {
                before: View::new(&variant, &before, seat),
                event: event.seen_by(seat),
                after: self.state.view(seat),
            });
        }
    }

    /// Whether a seat believes that its card in this slot is to be kept.
    fn is_kept(&self, seat: usize, slot: usize) -> bool {
        let id = self.bots[seat].game.unwrap().hands[seat].id(slot);
        self.bots[seat].beliefs.tops.of(id).is_keep()
    }

    /// Whether a seat believes that its card in this slot is to be played.
    fn is_play(&self, seat: usize, slot: usize) -> bool {
        let id = self.bots[seat].game.unwrap().hands[seat].id(slot);
        self.bots[seat].beliefs.tops.of(id).is_play()
    }
}

fn parse(text: &str) -> Move {
    text.parse().unwrap()
}

#[test]
fn a_hint_says_to_play_the_newest_card_first() {
    let mut pair = SelfPlay::deal(2, "R3 Y4 G4 W3 B3 Y3 R4 R1 G3 W4");
    pair.play("hint +1 red");
    assert!(pair.is_play(1, 1) && pair.is_play(1, 2));
    assert_eq!(pair.choice(), parse("play 2"));
}

#[test]
fn a_hint_at_the_next_discard_says_to_keep_it() {
    let mut pair = SelfPlay::deal(2, "R3 Y4 G4 W3 B3 R5 Y3 G3 W4 B4");
    pair.play("hint +1 5");
    assert!(pair.is_kept(1, 0) && !pair.is_play(1, 0));
    assert!(!pair.is_kept(1, 1));
}

#[test]
fn a_hint_at_a_card_one_step_away_is_a_finesse() {
    let hands = "R3 Y4 G4 W3 B3 Y3 G3 W4 B4 R1 W3 G4 B3 R2 Y5";
    let mut table = SelfPlay::deal(3, hands);
    table.play("hint +2 red");
    assert!(table.is_play(1, 4) && !table.is_play(1, 3));
    assert_eq!(table.choice(), parse("play 4"));
    table.play("play 4");
    assert_eq!(table.choice(), parse("play 3"));
}

#[test]
fn a_player_who_does_not_play_ends_the_finesse() {
    let hands = "R3 Y4 G4 W3 B3 Y3 G3 W4 B4 R1 W3 G4 B3 R2 Y5";
    let mut table = SelfPlay::deal(3, hands);
    table.play("hint +2 red");
    table.play("discard 0");
    assert!(!table.is_play(1, 3));
}
