use std::sync::Arc;

use super::*;
use crate::bots::{Player, play_games};
use crate::rules::{CardSet, EpisodeSeed, Parameters, State};

fn base_game(players: i64) -> Arc<Variant> {
    Arc::new(Variant::new(Parameters { players, ..Parameters::default() }).unwrap())
}

/// Calls `check` with the bots of all seats at every turn of some games.
fn for_each_turn(players: i64, check: impl Fn(&[InfoBot], &State)) {
    let variant = base_game(players);
    let mut bots = vec![InfoBot::new(&variant); players as usize];
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
            state.apply(variant.move_to_action(played).unwrap()).unwrap();
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
fn common_knowledge_is_equal_in_all_seats_and_true() {
    for players in 2..=5 {
        for_each_turn(players, |bots, state| {
            for (seat, owner) in bots.iter().enumerate() {
                for (other, bot) in bots.iter().enumerate().filter(|&(other, _)| other != seat) {
                    let view = View::new(state.variant(), state.position(), other);
                    let offset = view.offset(seat);
                    let known = bot.hands[offset].cards();
                    assert_eq!(known, owner.hands[0].cards());
                    let is_true =
                        |(copies, &kind): (&Copies, &u8)| copies.kinds().contains(kind.into());
                    assert!(known.iter().zip(view.hand_indices(offset)).all(is_true));
                }
            }
        });
    }
}

#[test]
fn the_remaining_copies_are_those_that_the_rules_count() {
    for_each_turn(3, |bots, state| {
        let view = state.view(0);
        for card in state.variant().card_kinds() {
            let is_played = usize::from(view.fireworks()[card.suit.index()]) > card.rank.index();
            let gone = view.discarded(card) + u8::from(is_played);
            let kind = CardSet::of(state.variant().card_index(card));
            let left = state.variant().copies(card) - gone;
            assert_eq!((bots[0].left & Copies::of(kind)).len(), u32::from(left));
        }
    });
}

#[test]
fn one_hint_informs_every_other_seat() {
    for_each_turn(5, |bots, state| {
        let Some(Event { seat, played: Move::Hint { .. }, .. }) = state.position().last_event()
        else {
            return;
        };
        if state.length() > 1 {
            return;
        }
        for (other, bot) in bots.iter().enumerate() {
            let is_told = bot.hands[0].cards().iter().any(|&copies| copies != Copies::ALL);
            assert_eq!(is_told, other != usize::from(*seat));
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
        play_games(&variant, &seats, 0, 0..200, 1).unwrap();
    }
}
