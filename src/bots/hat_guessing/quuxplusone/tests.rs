//! The common knowledge of the bots in whole games.

use std::sync::Arc;

use super::*;
use crate::bots::games::table::Table;
use crate::bots::{GamesOptions, Player, play_games};
use crate::rules::{CardSet, EpisodeSeed, Event, Parameters, Seat, State, Variant};

fn base_game(players: u8) -> Arc<Variant> {
    Arc::new(Variant::new(Parameters { players: players.into(), ..Parameters::default() }).unwrap())
}

/// Calls `check` with the bots of all seats at every turn of some games.
fn for_each_turn(players: u8, check: impl Fn(&[&InfoBot], &State)) {
    let variant = base_game(players);
    let seed = |game| EpisodeSeed { seed: 1, game, episode: 0 };
    let mut table = Table::<InfoBot>::new(State::new(variant.clone(), seed(0)));
    for game in 0..40 {
        table.state = State::new(variant.clone(), seed(game));
        table.start();
        while table.state.ending().is_none() {
            check(&table.bots(), &table.state);
            let chosen = table.choice();
            table.play(chosen);
        }
    }
}

#[test]
fn common_knowledge_is_equal_in_all_seats_and_true() {
    for players in 2..=5 {
        for_each_turn(players, |bots, state| {
            for (seat, owner) in Seat::ALL.into_iter().zip(bots) {
                for (other, bot) in
                    Seat::ALL.into_iter().zip(bots).filter(|&(other, _)| other != seat)
                {
                    let view = View::new(state.variant(), state.position(), other);
                    let offset = view.offset(seat);
                    let known = bot.public.hands[offset.index()].cards();
                    assert_eq!(known, owner.public.hands[0].cards());
                    let is_true = |(copies, &kind): (&CardSet, &u8)| copies.contains(kind.into());
                    assert!(known.iter().zip(view.hand_indices(offset)).all(is_true));
                }
            }
        });
    }
}

#[test]
fn the_remaining_copies_are_those_that_the_rules_count() {
    for_each_turn(3, |bots, state| {
        let view = state.view(Seat::FIRST);
        for card in state.variant().card_kinds() {
            let is_played = usize::from(view.stack(card.suit)) > card.rank.index();
            let gone = view.discarded(card) + u8::from(is_played);
            let kind = CardSet::of(state.variant().card_index_unchecked(card));
            let left = state.variant().copies(card) - gone;
            assert_eq!(bots[0].public.left.copies.total(kind), u32::from(left));
        }
    });
}

#[test]
fn one_hint_informs_every_other_seat() {
    for_each_turn(5, |bots, state| {
        let Some(Event { seat, played: Move::Hint { .. }, .. }) = state.position().last_event
        else {
            return;
        };
        if state.length() > 1 {
            return;
        }
        for (other, bot) in bots.iter().enumerate() {
            let is_told =
                bot.public.hands[0].cards().iter().any(|&copies| copies != base_game::ALL);
            assert_eq!(is_told, other != usize::from(seat));
        }
    });
}

#[test]
fn it_plays_legally_beside_partners_without_conventions() {
    for players in 2..=5 {
        let variant = base_game(players);
        let seats: Vec<Player> = (0..players)
            .map(|seat| ["info", "random", "info", "cheater", "smart"][seat as usize])
            .map(|name| crate::bots::bot(name).unwrap().player(&variant).unwrap())
            .collect();
        play_games(&variant, &seats, 0..200, GamesOptions::seeded(0)).unwrap();
    }
}
