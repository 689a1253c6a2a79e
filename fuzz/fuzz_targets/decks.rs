//! A deck in any order is dealt and played to the end with any choice of legal actions; another one is refused.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use starmine::rules::{EpisodeSeed, PRESETS, Seat, State, Variant, preset};

fuzz_target!(|data: &[u8]| {
    let [which, players, start, spoilt, rest @ ..] = data else { return };
    let mut parameters =
        preset(PRESETS[usize::from(*which) % PRESETS.len()].name).expect("it is one").parameters();
    parameters.players = 2 + i64::from(players % 4);
    let Ok(variant) = Variant::new(parameters).map(Arc::new) else { return };
    let dealt = State::new(Arc::clone(&variant), EpisodeSeed::default());
    let mut cards: Vec<u8> =
        dealt.deck().iter().map(|&card| variant.card_index(card) as u8).collect();
    let (order, choices) = rest.split_at(cards.len().min(rest.len()));
    for (place, &byte) in order.iter().enumerate() {
        cards.swap(place, usize::from(byte) % order.len());
    }
    if let Some(card) = cards.get_mut(usize::from(*spoilt)) {
        *card = card.wrapping_add(*spoilt);
    }
    let kinds: Vec<_> = variant.card_kinds().collect();
    let deck = cards.iter().map(|&card| kinds.get(usize::from(card)).copied()).collect();
    let Some(deck) = deck else { return };
    let Some(start) = Seat::new(usize::from(start % 8)) else { return };
    let Ok(mut state) = State::from_deck(variant, deck, start) else { return };
    let mut choices = choices.iter().cycle();
    while state.ending().is_none() {
        let legal: Vec<_> = state.legal_actions().iter().collect();
        let choice = choices.next().map_or(0, |&byte| usize::from(byte));
        state.apply(legal[choice % legal.len()]).expect("the action is legal");
    }
});
