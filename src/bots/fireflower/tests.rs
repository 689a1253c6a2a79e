//! The conventions, each in a game that was dealt for it.

use super::Fireflower;
use crate::bots::games::table::Table;
use crate::rules::Move;

fn deal(players: u8, cards: &str) -> Table<Fireflower> {
    Table::deal(players, cards)
}

impl Table<Fireflower> {
    /// Whether a seat believes that its card in this slot is to be kept.
    fn is_kept(&self, seat: usize, slot: usize) -> bool {
        let id = self.bots()[seat].game.unwrap().hands[seat].id(slot);
        self.bots()[seat].beliefs.tops.of(id).is_keep()
    }

    /// Whether a seat believes that its card in this slot is to be played.
    fn is_play(&self, seat: usize, slot: usize) -> bool {
        let id = self.bots()[seat].game.unwrap().hands[seat].id(slot);
        self.bots()[seat].beliefs.tops.of(id).is_play()
    }
}

fn parse(text: &str) -> Move {
    text.parse().unwrap()
}

#[test]
fn a_hint_says_to_play_the_newest_card_first() {
    let mut pair = deal(2, "R3 Y4 G4 W3 B3 Y3 R4 R1 G3 W4");
    pair.play(parse("hint +1 red"));
    assert!(pair.is_play(1, 1) && pair.is_play(1, 2));
    assert_eq!(pair.choice(), parse("play 2"));
}

#[test]
fn a_hint_at_the_next_discard_says_to_keep_it() {
    let mut pair = deal(2, "R3 Y4 G4 W3 B3 R5 Y3 G3 W4 B4");
    pair.play(parse("hint +1 5"));
    assert!(pair.is_kept(1, 0) && !pair.is_play(1, 0));
    assert!(!pair.is_kept(1, 1));
}

#[test]
fn a_hint_at_a_card_one_step_away_is_a_finesse() {
    let hands = "R3 Y4 G4 W3 B3 Y3 G3 W4 B4 R1 W3 G4 B3 R2 Y5";
    let mut table = deal(3, hands);
    table.play(parse("hint +2 red"));
    assert!(table.is_play(1, 4) && !table.is_play(1, 3));
    assert_eq!(table.choice(), parse("play 4"));
    table.play(parse("play 4"));
    assert_eq!(table.choice(), parse("play 3"));
}

#[test]
fn a_player_who_does_not_play_ends_the_finesse() {
    let hands = "R3 Y4 G4 W3 B3 Y3 G3 W4 B4 R1 W3 G4 B3 R2 Y5";
    let mut table = deal(3, hands);
    table.play(parse("hint +2 red"));
    table.play(parse("discard 0"));
    assert!(!table.is_play(1, 3));
}
