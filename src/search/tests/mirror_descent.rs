use std::collections::BTreeMap;

use super::*;
use crate::bots::{GamesOptions, Player, SeatedPlayer, play_games};
use crate::rules::{Belief, Card, Move, Seat, State};

#[test]
fn mirror_descent_doubts_a_hand_for_a_move_and_drops_none() {
    let (variant, bot) = (one_colour(), RULES);
    let (mut compared, mut doubted) = (0, 0);
    for game in 0..12 {
        // The other seat makes moves of another blueprint now and then.
        let state = game_before_a_turn(&variant, "iggi", Seat::ALL[1], game, 5);
        if state.ending().is_some() {
            continue;
        }
        let doubting = mirror(&variant, bot, 10, 10_000, 50.0);
        let belief = doubting.decide(&state, 0).unwrap().1;
        let found = stated(&belief);
        assert_eq!((belief.is_exact(), belief.unexplained().count()), (true, 0));
        // All hands that the rules allow are there, each with the likelihood of the moves that it
        // explains.
        let allowed = Belief::new(&state.view(Seat::ALL[1])).hands(10_000).unwrap();
        assert_eq!(found.len(), allowed.len());
        let mut expected = BTreeMap::new();
        for (hand, ways) in allowed {
            let hand: Vec<usize> = hand[..found.keys().next().unwrap().len()]
                .iter()
                .map(|&card| card.into())
                .collect();
            let mistakes = mistakes(&state, Seat::ALL[1], bot, &hand);
            expected.insert(hand, ways as f64 * 0.02f64.powi(mistakes));
            doubted += usize::from(mistakes > 0);
        }
        let total: f64 = expected.values().sum();
        for (hand, share) in &found {
            assert!((share - expected[hand] / total).abs() < 1e-9, "{hand:?}");
        }
        compared += usize::from(found.len() > 1);
    }
    assert!(compared >= 3 && doubted > 10, "{compared}, {doubted}");
}

/// The number of turns in which the other seat would have made another move, if this were the
/// observer's hand now.
fn mistakes(state: &State, seat: Seat, bot: &str, hand: &[usize]) -> i32 {
    let variant = state.variant();
    // The deck with the supposed cards in the places of the searching seat's, which change places
    // with hidden cards.
    let mut deck = state.deck().to_vec();
    let (own, drawn) = own_places(state, seat);
    let cards: Vec<Card> = variant.card_kinds().collect();
    for (slot, &kind) in hand.iter().enumerate() {
        let mut hidden = own[slot..].iter().copied().chain(drawn..deck.len());
        let other = hidden.find(|&place| deck[place] == cards[kind]).expect("a hidden copy");
        deck.swap(own[slot], other);
    }
    let start = state.start_player();
    let mut other = State::from_deck(variant.clone(), deck, start).unwrap();
    let mut bots: Vec<SeatedPlayer> =
        variant.seats().map(|place| SeatedPlayer::new(player(variant, bot), place, 0)).collect();
    let mut found = 0;
    for event in state.history() {
        let acting = event.seat;
        found +=
            i32::from(acting != seat && bots[acting.index()].act(&other).unwrap() != event.played);
        let action = variant.move_to_action(event.played).unwrap();
        other.apply(action).unwrap();
    }
    found
}

/// The places in the deck of a seat's cards, by slot, and the number of cards that were drawn.
fn own_places(state: &State, seat: Seat) -> (Vec<usize>, usize) {
    let variant = state.variant();
    let size = usize::from(variant.hand_size());
    let mut hands: Vec<Vec<usize>> = (0..usize::from(variant.players()))
        .map(|owner| (owner * size..(owner + 1) * size).collect())
        .collect();
    let mut next = hands.len() * size;
    for event in state.history() {
        if let Move::Play { slot } | Move::Discard { slot } = event.played {
            hands[event.seat.index()].remove(slot.index());
            if event.drawn.is_some() {
                hands[event.seat.index()].push(next);
                next += 1;
            }
        }
    }
    (hands.swap_remove(seat.index()), next)
}

#[test]
fn a_small_step_of_mirror_descent_plays_as_the_blueprint_and_a_large_one_gains_points() {
    let variant = variant_of("small", 2);
    let plain: Vec<Player> = (0..2).map(|_| player(&variant, RULES)).collect();
    let searching = |rollouts, step| -> Vec<Player> {
        let seat = |_| Player::bot(mirror(&variant, RULES, rollouts, 100, step));
        (0..2).map(seat).collect()
    };
    let play = |table: &[Player], games| {
        let played = play_games(variant.clone(), table, 0..games, GamesOptions::seeded(4));
        played.unwrap().outcomes
    };
    assert_eq!(play(&searching(50, 1e-3), 6), play(&plain, 6));
    let total = |table: &[Player]| -> u32 {
        play(table, 60).iter().map(|outcome| u32::from(outcome.score)).sum()
    };
    let (found, before) = (total(&searching(300, 50.0)), total(&plain));
    assert!(found > before + 30, "{found} for {before}");
}
