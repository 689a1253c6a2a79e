//! The conventions, each in a game that was dealt for it.

use super::Smart;
use crate::bots::games::bot_table::BotTable;
use crate::rules::Move;

fn pair(cards: &str) -> BotTable<Smart> {
    BotTable::deal(2, cards)
}

fn parse(text: &str) -> Move {
    text.parse().unwrap()
}

#[test]
fn the_newest_card_of_a_hint_is_playable() {
    let mut pair = pair("R3 Y4 G4 W3 B3 R4 Y3 R1 G3 W4");
    assert_eq!(pair.choice(), parse("hint +1 red"));
    pair.play(parse("hint +1 red"));
    assert_eq!(pair.choice(), parse("play 2"));
}

#[test]
fn a_critical_card_is_warned_of() {
    let mut pair = pair("R3 Y4 G4 W3 B3 R5 Y3 G3 W4 B4");
    assert_eq!(pair.choice(), parse("hint +1 5"));
    pair.play(parse("hint +1 5"));
    assert_eq!(pair.choice(), parse("discard 1"));
}

#[test]
fn a_playable_card_is_discarded_when_a_teammate_drew_the_other() {
    let mut pair = pair("B1 Y4 G4 W3 R3 R4 Y3 G3 W4 B1");
    pair.play(parse("hint +1 4"));
    pair.play(parse("hint +1 blue"));
    assert_eq!(pair.choice(), parse("discard 0"));
    pair.play(parse("discard 0"));
    assert_eq!(pair.choice(), parse("play 4"));
}

#[test]
fn broken_conventions_are_forgotten() {
    let mut pair = pair("R3 Y4 G4 W3 B3 R4 Y3 G3 W4 B4");
    // Red promises that the oldest card is playable; 4 takes the promise back.
    pair.play(parse("hint +1 red"));
    assert_eq!(pair.choice(), parse("play 0"));
    pair.play(parse("hint +1 white"));
    pair.play(parse("hint +1 4"));
    assert!(!pair.bots()[1].knowledge.hand(1).iter().any(|kinds| kinds.is_empty()));
    assert_ne!(pair.choice(), parse("play 0"));
}
