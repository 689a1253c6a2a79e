use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::*;
use super::*;
use crate::bots::{Bot, Player, SeatedPlayer, Turn};
use crate::rules::{Card, GameRng, Offset, Seat, Slot, State, Variant};

/// All decks that begin with any order of the given cards.
fn orders(
    left: &mut Vec<(Card, u8)>,
    deck: &mut Vec<Card>,
    size: usize,
    visit: &mut impl FnMut(&[Card]),
) {
    if deck.len() == size {
        visit(deck);
        return;
    }
    for index in 0..left.len() {
        if left[index].1 > 0 {
            left[index].1 -= 1;
            deck.push(left[index].0);
            orders(left, deck, size, visit);
            deck.pop();
            left[index].1 += 1;
        }
    }
}

/// The distribution of the searching seat's hand, from all decks of the variant: those with which
/// the game would have looked the same.
fn by_enumeration(state: &State, seat: Seat, bot: &str) -> BTreeMap<Vec<usize>, f64> {
    let variant = state.variant();
    let mut kinds: Vec<(Card, u8)> =
        variant.card_kinds().map(|card| (card, variant.copies(card))).collect();
    let mut found = BTreeMap::new();
    let seen = |state: &State| state.view(seat).history().unwrap().collect::<Vec<_>>();
    let expected = seen(state);
    let others: Vec<Player> = (0..variant.players()).map(|_| player(variant, bot)).collect();
    orders(&mut kinds, &mut Vec::new(), variant.deck_size().into(), &mut |deck| {
        let start = state.start_player();
        let mut other = State::from_deck(variant.clone(), deck.to_vec(), start).unwrap();
        let mut bots: Vec<SeatedPlayer> = variant
            .seats()
            .zip(&others)
            .map(|(seat, player)| SeatedPlayer::new(player.clone(), seat, 0))
            .collect();
        let shows = |one: &State, another: &State| {
            variant
                .teammates()
                .all(|offset| one.view(seat).hand(offset).eq(another.view(seat).hand(offset)))
        };
        let begins = State::from_deck(variant.clone(), state.deck().to_vec(), start).unwrap();
        if !shows(&other, &begins) {
            return;
        }
        for (turn, event) in expected.iter().enumerate() {
            let acting = event.seat;
            if acting != seat && bots[acting.index()].act(&other).unwrap() != event.played {
                return;
            }
            let action = variant.move_to_action(event.played).unwrap();
            if other.apply(action).is_err()
                || other.view(seat).history().unwrap().nth(turn) != Some(*event)
            {
                return;
            }
        }
        let hand =
            other.position().hand(variant, seat).map(|card| variant.card_index_unchecked(card));
        *found.entry(hand.collect()).or_default() += 1.0;
    });
    let total: f64 = found.values().sum();
    found.values_mut().for_each(|share| *share /= total);
    found
}

#[test]
fn an_exact_belief_is_what_all_decks_say() {
    let variant = one_colour();
    let mut compared = 0;
    for (game, turns) in [(0, 2), (1, 4), (2, 5), (3, 6)] {
        let state = game_before_a_turn(&variant, RULES, Seat::ALL[1], game, turns);
        if state.ending().is_some() {
            continue;
        }
        let searcher = searcher(&variant, RULES, 10, 1_000);
        let belief = searcher.decide(&state, 0).unwrap().1;
        assert!(belief.is_exact());
        let (found, expected) = (stated(&belief), by_enumeration(&state, Seat::ALL[1], RULES));
        assert!(found.keys().eq(expected.keys()), "{found:?} for {expected:?}");
        for (hand, share) in &found {
            assert!(
                (share - expected[hand]).abs() < 1e-9,
                "{hand:?}: {share} for {}",
                expected[hand]
            );
        }
        compared += usize::from(found.len() > 1);
    }
    assert!(compared >= 2);
}

#[test]
fn a_sampled_belief_is_drawn_from_what_all_decks_say() {
    let variant = one_colour();
    let state = game_before_a_turn(&variant, RULES, Seat::ALL[1], 1, 4);
    let expected = by_enumeration(&state, Seat::ALL[1], RULES);
    let (mut counts, mut total) = (BTreeMap::<Vec<usize>, f64>::new(), 0.0);
    // Few hands each, so that no belief is exact.
    for seed in 0..400 {
        let searcher = searcher(&variant, RULES, 1, 3);
        let belief = searcher.decide(&state, seed).unwrap().1;
        assert!(!belief.is_exact());
        for (hand, share) in stated(&belief) {
            *counts.entry(hand).or_default() += share;
            total += share;
        }
    }
    assert!(expected.len() > 3, "{expected:?}");
    for (hand, share) in &expected {
        let found = counts.get(hand).copied().unwrap_or(0.0) / total;
        let error = (share * (1.0 - share) / total).sqrt();
        assert!((found - share).abs() < 4.0 * error, "{hand:?}: {found} for {share} +- {error}");
    }
    assert!(counts.keys().all(|hand| expected.contains_key(hand)));
}

/// Plays games in which one seat searches, and looks at its belief before each of its moves.
fn watch(
    variant: &Arc<Variant>,
    bot: &str,
    others: &str,
    hands: usize,
    games: u64,
    look: &mut impl FnMut(&State, &BlueprintBelief),
) {
    for game in 0..games {
        let seat = Seat::ALL[game as usize % usize::from(variant.players())];
        let mut state = State::new(variant.clone(), seed(game));
        let mut bots: Vec<SeatedPlayer> = variant
            .seats()
            .map(|other| SeatedPlayer::new(player(variant, others), other, game))
            .collect();
        let own = searcher(variant, bot, 40, hands);
        while state.ending().is_none() {
            let acting = state.position().current_player;
            let played = if acting == seat {
                let (decision, belief) = own.decide(&state, game).unwrap();
                look(&state, &belief);
                decision.chosen
            } else {
                bots[acting.index()].act(&state).unwrap()
            };
            state.apply(variant.move_to_action(played).unwrap()).unwrap();
        }
    }
}

#[test]
fn the_true_hand_survives_and_no_move_of_the_blueprint_is_a_mistake() {
    for (name, players, bot) in
        [("small", 2, RULES), ("very-small", 3, RULES), ("standard", 4, "smart")]
    {
        let variant = variant_of(name, players);
        let mut exact = 0;
        watch(&variant, bot, bot, 2_000, 3, &mut |state, belief| {
            if belief.is_exact() {
                exact += 1;
                let hand = own_hand(state);
                assert!(belief.hand_indices().any(|(found, share)| found == hand && share > 0.0));
                assert_eq!(belief.unexplained().count(), 0);
            }
            let total: f64 = belief.hand_indices().map(|(_, share)| share).sum();
            assert!((total - 1.0).abs() < 1e-9);
        });
        assert!(exact > 5, "{name}: {exact}");
    }
}

#[test]
fn a_teammate_may_leave_the_blueprint() {
    let (mut unexplained, mut looks) = (0, 0);
    for (name, players, bot) in [("standard", 2, "smart"), ("small", 3, RULES)] {
        watch(&variant_of(name, players), bot, "random", 50, 6, &mut |state, belief| {
            let view = state.view(state.position().current_player);
            looks += 1;
            unexplained += usize::from(belief.unexplained().count() > 0);
            // Each hand agrees with what everybody sees.
            for (hand, _) in belief.hand_indices() {
                let fits = |(slot, &card): (usize, &u8)| {
                    view.knowledge(Offset::OWN, Slot::ALL[slot])
                        .unwrap_or_default()
                        .plausible(state.variant())
                        .contains(card.into())
                };
                assert!(hand.iter().enumerate().all(fits));
            }
            assert!(belief.hand_indices().count() > 0);
        });
    }
    assert!(looks > 50 && unexplained > looks / 4, "{unexplained} of {looks}");
}

#[test]
fn stated_probabilities_are_calibrated() {
    let variant = variant_of("small", 2);
    // For each tenth: the sum of the stated probabilities, the hits, and the number.
    let mut bins = [(0.0, 0.0, 0.0); 10];
    watch(&variant, RULES, RULES, 300, 600, &mut |state, belief| {
        let (hand, outlook) = (own_hand(state), state.position().outlook(state.variant()));
        for (slot, &card) in hand.iter().enumerate() {
            let playable = |card: u8| outlook.playable.contains(card.into());
            let stated: f64 = belief
                .hand_indices()
                .filter(|(found, _)| playable(found[slot]))
                .map(|(_, share)| share)
                .sum();
            let bin = &mut bins[((stated * 10.0) as usize).min(9)];
            bin.0 += stated;
            bin.1 += f64::from(u8::from(playable(card)));
            bin.2 += 1.0;
        }
    });
    let all: f64 = bins.iter().map(|bin| bin.2).sum();
    assert!(all > 10_000.0, "{all}");
    for (stated, hits, number) in bins {
        let error = (stated * (1.0 - stated / f64::max(number, 1.0))).max(1.0).sqrt();
        assert!((hits - stated).abs() < 4.5 * error, "{hits} for {stated} +- {error} of {number}");
    }
}

/// A game in which all seats play by a bot, except that one move is another legal one: the last
/// move of a teammate of `seat` before `turn`, if it has a choice. The game ends before a turn of
/// `seat` or is over.
fn game_with_a_mistake(
    variant: &Arc<Variant>,
    bot: &str,
    seat: Seat,
    game: u64,
    turn: usize,
    turns: usize,
) -> (State, Option<usize>) {
    let players = usize::from(variant.players());
    let mut state = State::new(variant.clone(), seed(game));
    let mut rng = GameRng::for_samples(game);
    let mut bots: Vec<SeatedPlayer> =
        variant.seats().map(|seat| SeatedPlayer::new(player(variant, bot), seat, 0)).collect();
    let mut mistake = None;
    while state.ending().is_none() {
        let acting = state.position().current_player;
        if acting == seat && state.length() >= turns {
            break;
        }
        let played = variant.move_to_action(bots[acting.index()].act(&state).unwrap()).unwrap();
        let mut action = played;
        if acting != seat && mistake.is_none() && state.length() + players > turn {
            let others = state.legal_actions().iter().filter(|&other| other != played);
            let others: Vec<_> = others.collect();
            if !others.is_empty() {
                action = *rng.pick(&others).unwrap();
                mistake = Some(state.length());
            }
        }
        state.apply(action).unwrap();
    }
    (state, mistake)
}

/// A searcher that was asked in each of its turns so far.
fn asked_in_each_turn(mut searcher: Searcher, state: &State, seat: Seat, seed: u64) -> Searcher {
    let start = state.start_player();
    let mut earlier =
        State::from_deck(state.variant().clone(), state.deck().to_vec(), start).unwrap();
    searcher.start(&earlier.view(seat), GameRng::for_samples(seed));
    for event in state.history() {
        let before = earlier.clone();
        if event.seat == seat {
            searcher.act(&before.view(seat));
        }
        let action = state.variant().move_to_action(event.played).unwrap();
        earlier.apply(action).unwrap();
        searcher.observe(&Turn {
            before: before.view(seat),
            event: event.seen_by(seat),
            after: earlier.view(seat),
        });
    }
    searcher
}

#[test]
fn an_exact_belief_after_a_mistake_is_that_of_a_seat_that_was_asked_in_each_turn() {
    let (mut compared, mut alone) = (0, 0);
    for (name, players, bot, turns) in [
        ("small", 2, RULES, 9),
        ("small", 3, RULES, 8),
        ("very-small", 2, RULES, 5),
        ("standard", 2, "smart", 34),
        ("standard", 4, "smart", 36),
    ] {
        let variant = variant_of(name, players);
        let games = if name == "standard" { 3 } else { 8 };
        for game in 0..games {
            let seat = Seat::ALL[game as usize % variant.players() as usize];
            let (state, mistake) =
                game_with_a_mistake(&variant, bot, seat, game, 3 + game as usize % 5, turns);
            let Some(mistake) = mistake.filter(|_| state.ending().is_none()) else { continue };
            let at_once = searcher(&variant, bot, 1, 300).decide(&state, 1).unwrap().1;
            let mut by_turns = asked_in_each_turn(searcher(&variant, bot, 1, 300), &state, seat, 2);
            by_turns.choose(&state.view(seat)).unwrap();
            let by_turns = by_turns.belief().unwrap();
            assert_eq!(at_once.is_exact(), by_turns.is_exact());
            if !at_once.is_exact() {
                continue;
            }
            let unexplained: Vec<usize> = at_once.unexplained().collect();
            assert_eq!(unexplained, by_turns.unexplained().collect::<Vec<_>>());
            let (found, expected) = (stated(&at_once), stated(by_turns));
            assert!(found.keys().eq(expected.keys()));
            for (hand, share) in &found {
                assert!((share - expected[hand]).abs() < 1e-9, "{hand:?}");
            }
            compared += 1;
            alone += usize::from(unexplained == [mistake]);
            if unexplained == [mistake] {
                let hand: Vec<usize> = own_hand(&state).into_iter().map(usize::from).collect();
                assert!(found[&hand] > 0.0);
            }
        }
    }
    assert!(compared >= 12 && alone >= 6, "{compared}, {alone}");
}

#[test]
fn a_sampled_belief_after_a_mistake_is_that_of_a_seat_that_was_asked_in_each_turn() {
    let (mut compared, mut alone) = (0, 0);
    for (players, turns) in [(2, 12), (3, 14), (5, 20)] {
        let variant = variant_of("standard", players);
        for game in 0..4 {
            let seat = Seat::ALL[game as usize % variant.players() as usize];
            let (state, mistake) = game_with_a_mistake(&variant, "smart", seat, game, 6, turns);
            let Some(mistake) = mistake.filter(|_| state.ending().is_none()) else { continue };
            for seed in 0..2 {
                let at_once = searcher(&variant, "smart", 1, 200).decide(&state, seed).unwrap().1;
                let mut by_turns =
                    asked_in_each_turn(searcher(&variant, "smart", 1, 200), &state, seat, seed);
                by_turns.choose(&state.view(seat)).unwrap();
                let by_turns = by_turns.belief().unwrap();
                assert_eq!(at_once.is_exact(), by_turns.is_exact());
                let unexplained: Vec<usize> = at_once.unexplained().collect();
                assert_eq!(unexplained, by_turns.unexplained().collect::<Vec<_>>());
                let (found, expected) = (stated(&at_once), stated(by_turns));
                assert!(found.keys().eq(expected.keys()));
                assert!(found.iter().all(|(hand, share)| (share - expected[hand]).abs() < 1e-9));
                compared += 1;
                alone += usize::from(unexplained == [mistake]);
            }
        }
    }
    assert!(compared >= 16 && alone >= 10, "{compared}, {alone}");
}
