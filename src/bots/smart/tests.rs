//! The conventions, each in a game that was dealt for it.

use std::sync::Arc;

use super::Smart;
use crate::bots::{Bot, Turn};
use crate::rules::{Card, EpisodeSeed, GameRng, Move, Parameters, State, Variant, View};

/// Two bots at a table.
struct Pair {
    state: State,
    bots: [Smart; 2],
}

impl Pair {
    /// Deals these hands, the oldest card first, and then these cards of the deck. The rest of the
    /// deck is in index order.
    fn deal(cards: &str) -> Pair {
        let variant = Arc::new(Variant::new(Parameters::default()).unwrap());
        let mut deck: Vec<Card> = cards.split(' ').map(|card| card.parse().unwrap()).collect();
        for card in variant.card_kinds() {
            let dealt = deck.iter().filter(|&&other| other == card).count();
            deck.extend((dealt..variant.copies(card).into()).map(|_| card));
        }
        let state = State::from_deck(variant, deck, 0).unwrap();
        let mut bots = [Smart::new(), Smart::new()];
        for (seat, bot) in bots.iter_mut().enumerate() {
            bot.start(&state.view(seat), GameRng::new(EpisodeSeed::default()));
        }
        Pair { state, bots }
    }

    /// The move that the bot to act chooses.
    fn choice(&mut self) -> Move {
        let seat = self.state.position().current_player();
        self.bots[seat].act(&self.state.view(seat))
    }

    fn play(&mut self, played: Move) {
        let variant = self.state.variant().clone();
        let before = *self.state.position();
        self.state.apply(variant.move_to_action(played).unwrap()).unwrap();
        let event = *self.state.history().last().unwrap();
        for (seat, bot) in self.bots.iter_mut().enumerate() {
            bot.observe(&Turn {
                before: View::new(&variant, &before, seat),
                event: event.seen_by(seat),
                after: self.state.view(seat),
            });
        }
    }
}

fn parse(text: &str) -> Move {
    text.parse().unwrap()
}

#[test]
fn the_newest_card_of_a_hint_is_playable() {
    let mut pair = Pair::deal("R3 Y4 G4 W3 B3 R4 Y3 R1 G3 W4");
    assert_eq!(pair.choice(), parse("hint +1 red"));
    pair.play(parse("hint +1 red"));
    assert_eq!(pair.choice(), parse("play 2"));
}

#[test]
fn a_critical_card_is_warned_of() {
    let mut pair = Pair::deal("R3 Y4 G4 W3 B3 R5 Y3 G3 W4 B4");
    assert_eq!(pair.choice(), parse("hint +1 5"));
    pair.play(parse("hint +1 5"));
    assert_eq!(pair.choice(), parse("discard 1"));
}

#[test]
fn a_playable_card_is_discarded_when_a_teammate_drew_the_other() {
    let mut pair = Pair::deal("B1 Y4 G4 W3 R3 R4 Y3 G3 W4 B1");
    pair.play(parse("hint +1 4"));
    pair.play(parse("hint +1 blue"));
    assert_eq!(pair.choice(), parse("discard 0"));
    pair.play(parse("discard 0"));
    assert_eq!(pair.choice(), parse("play 4"));
}

#[test]
fn broken_conventions_are_forgotten() {
    let mut pair = Pair::deal("R3 Y4 G4 W3 B3 R4 Y3 G3 W4 B4");
    // Red promises that the oldest card is playable; 4 takes the promise back.
    pair.play(parse("hint +1 red"));
    assert_eq!(pair.choice(), parse("play 0"));
    pair.play(parse("hint +1 white"));
    pair.play(parse("hint +1 4"));
    assert!(!pair.bots[1].knowledge.hand(1).iter().any(|kinds| kinds.is_empty()));
    assert_ne!(pair.choice(), parse("play 0"));
}
