//! Text that is accepted as a card, a move or a player is one that its own text names again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use starmine::players::PlayerSpec;
use starmine::rules::{Card, Move};

fuzz_target!(|text: &str| {
    if let Ok(card) = text.parse::<Card>() {
        assert_eq!(card.to_string().parse::<Card>().expect("a card is read again"), card);
    }
    if let Ok(found) = text.parse::<Move>() {
        assert_eq!(found.to_string().parse::<Move>().expect("a move is read again"), found);
    }
    if let Ok(player) = text.parse::<PlayerSpec>() {
        let again = player.to_string().parse::<PlayerSpec>().expect("a player's text is read again");
        assert_eq!(again.to_string(), player.to_string());
    }
});
