use std::sync::Arc;

use super::*;
use crate::bots::{Player, play_games};
use crate::rules::{EpisodeSeed, Parameters, State};

fn base_game(players: i64) -> Arc<Variant> {
    Arc::new(Variant::new(Parameters { players, ..Parameters::default() }).unwrap())
}

/// Calls `check` with all seats' bots at every turn of some games.
fn for_each_turn(players: i64, check: impl Fn(&[Info], &State)) {
    let variant = base_game(players);
    let mut bots = vec![Info::new(&variant); players as usize];
    for game in 0..40 {
        let seed = EpisodeSeed { seed: 1, game, episode: 0 };
        let mut state = State::new(variant.clone(), seed);
        for (seat, bot) in bots.iter_mut().enumerate() {
            bot.start(&View::new(&variant, state.position(), seat), GameRng::new(seed));
        }
        while state.ending().is_none() {
            check(&bots, &state);
            let before = *state.position();
            let seat = before.current_player();
            let played = bots[seat].act(&View::new(&variant, &before, seat));
            state.apply(variant.move_to_action(played).unwrap() as i64).unwrap();
            let event = *state.position().last_event().unwrap();
            for (seat, bot) in bots.iter_mut().enumerate() {
                bot.observe(&Turn {
                    before: View::new(&variant, &before, seat),
                    event: event.seen_by(seat),
                    after: View::new(&variant, state.position(), seat),
                });
            }
        }
    }
}

#[test]
fn all_seats_know_the_same_and_it_is_true() {
    for players in 2..=5 {
        for_each_turn(players, |bots, state| {
            for (seat, owner) in bots.iter().enumerate() {
                for (other, bot) in bots.iter().enumerate().filter(|&(other, _)| other != seat) {
                    let view = View::new(state.variant(), state.position(), other);
                    let offset = view.offset(seat);
                    let known = bot.hands[offset].slots();
                    assert_eq!(known, owner.hands[0].slots());
                    let is_true = |(&copies, &index): (&Copies, &u8)| {
                        copies.meets(Copies::of_kind(index.into()))
                    };
                    assert!(known.iter().zip(view.hand_indices(offset)).all(is_true));
                }
            }
        });
    }
}

#[test]
fn the_board_is_what_the_rules_make_of_it() {
    for_each_turn(3, |bots, state| {
        let outlook = state.position().outlook(state.variant());
        let board = &bots[0].board;
        let left = |kinds| (Copies::of_kinds(kinds) & board.left).kinds();
        assert_eq!(board.playable & board.left, Copies::of_kinds(outlook.playable) & board.left);
        assert_eq!(board.dead & board.left, Copies::of_kinds(outlook.dead) & board.left);
        assert_eq!(board.critical(), left(outlook.critical));
    });
}

#[test]
fn one_hint_tells_every_other_seat_something() {
    for_each_turn(5, |bots, state| {
        let Some(Event { seat, played: Move::Hint { .. }, .. }) = state.position().last_event()
        else {
            return;
        };
        if state.length() > 1 {
            return;
        }
        for (other, bot) in bots.iter().enumerate() {
            let is_told = bot.hands[0].slots().iter().any(|&copies| copies != Copies::ALL);
            assert_eq!(is_told, other != usize::from(*seat));
        }
    });
}

#[test]
fn partners_without_conventions_do_no_harm() {
    for players in 2..=5 {
        let variant = base_game(players);
        let seats: Vec<Player> = (0..players)
            .map(|seat| ["info", "random", "info", "cheater", "smart"][seat as usize])
            .map(|name| crate::bots::bot(name).unwrap().player(&variant).unwrap())
            .collect();
        play_games(&variant, &seats, 0, 0..200, 1).unwrap();
    }
}
