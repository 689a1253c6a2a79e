use super::*;
use crate::rules::{EpisodeSeed, GameRng, PRESETS, Parameters, State, random_variant};

/// The game of a state before its first turn, as a seat sees it.
pub(crate) fn first_seen(state: &State, observer: Seat) -> SeenGame {
    let (variant, start) = (state.variant(), state.dealt());
    let view = start.view(observer);
    let hands: Vec<Vec<Card>> = variant.teammates().map(|at| view.hand(at).collect()).collect();
    SeenGame::new(variant.clone(), observer, &hands, state.start_player()).unwrap()
}

/// Plays a random game and compares what each seat sees of it with its view of the state.
fn compare(variant: &Arc<Variant>, game: u64) {
    let mut state = State::new(variant.clone(), EpisodeSeed { seed: 4, game, episode: 0 });
    let mut rng = GameRng::for_samples(game);
    let mut seen: Vec<SeenGame> = variant.seats().map(|seat| first_seen(&state, seat)).collect();
    while state.ending().is_none() {
        let moves: Vec<Move> = state.legal_moves().collect();
        let event = state.play(*rng.pick(&moves).unwrap()).unwrap();
        for game in &mut seen {
            let seat = game.observer();
            let found = game.play(event.played, event.revealed_to(variant, seat));
            assert_eq!(found, Ok(event.seen_by(seat)), "{variant}");
            let (view, expected) = (game.view(), state.view(seat));
            assert_eq!(view.to_string(), expected.to_string());
            assert_eq!(view.legal_actions(), expected.legal_actions());
            assert_eq!(view.ending(), expected.ending());
            assert_eq!(view.turns_left(), expected.turns_left());
            let mut offsets = variant.seats().map(|seat| expected.offset(seat));
            assert!(offsets.all(|at| view.hand_knowledge(at) == expected.hand_knowledge(at)));
            assert_eq!(view.last_event(), expected.last_event());
            assert!(view.history().unwrap().eq(expected.history().unwrap()));
            let hand: Vec<Card> = Belief::new(&view).sample(&mut rng).unwrap().collect();
            let supposed = game.with_hand(hand.iter().copied(), &mut rng.clone()).unwrap();
            assert!(supposed.is_seen_alike(&state, seat));
            let of_state = SeenGame::of(&state, seat);
            let again = of_state.with_hand(hand.iter().copied(), &mut rng.clone());
            assert_eq!(again.as_ref(), Some(&supposed));
            assert_eq!(of_state.stand_in(), game.stand_in());
            let earlier = rng.clone().below(state.length() as u32 + 1) as usize;
            let expected = SeenGame::of(&state.first_turns(earlier).unwrap(), seat).stand_in();
            assert_eq!(game.first_turns(earlier).unwrap().stand_in(), expected);
            let more = hand.into_iter().chain([variant.card(0)]);
            assert!(game.with_hand(more, &mut rng).is_none());
        }
    }
    for game in &mut seen {
        let again = SeenGame::of(&game.stand_in(), game.observer());
        assert_eq!(again.history(), game.history());
        assert_eq!(again.view().to_string(), game.view().to_string());
        let over = SeenGameError::GameOver(state.ending().unwrap());
        let played = Move::Play { slot: Slot::OLDEST };
        assert_eq!(game.play(played, Revealed::Nothing), Err(over));
    }
}

#[test]
fn a_seat_sees_the_game_of_the_table() {
    for row in PRESETS {
        for players in 2..=5 {
            let parameters = Parameters { players, ..row.parameters() };
            let Ok(variant) = Variant::new(parameters).map(Arc::new) else { continue };
            (0..5).for_each(|game| compare(&variant, game));
        }
    }
    let mut rng = GameRng::for_samples(0);
    for game in 0..400 {
        compare(&Arc::new(random_variant(|bound| rng.below(bound))), game);
    }
}

fn cards(text: &str) -> Vec<Card> {
    text.split_whitespace().map(|card| card.parse().unwrap()).collect()
}

#[test]
fn a_deal_that_cannot_be_is_refused() {
    let variant = Arc::new(Variant::default());
    let deal = |observer: usize, hands: &[&str], start: usize| {
        let hands: Vec<Vec<Card>> = hands.iter().map(|hand| cards(hand)).collect();
        let game = SeenGame::new(variant.clone(), Seat::ALL[observer], &hands, Seat::ALL[start]);
        game.map(|_| ()).unwrap_err().to_string()
    };
    let hand = "R1 R1 R1 B5 G2";
    assert_eq!(deal(2, &[hand], 0), "seat 2 is not allowed: expected 0 to 1");
    assert_eq!(deal(0, &[hand], 3), "seat 3 is not allowed: expected 0 to 1");
    assert_eq!(deal(0, &[], 0), "hands has 0 entries: expected 1, one for each teammate");
    let size = "the hand at offset 1 has 4 cards: expected 5";
    assert_eq!(deal(0, &["R1 R1 R1 B5"], 0), size);
    let copies = "B5 is not left: the observer sees all its copies";
    assert_eq!(deal(0, &["R1 R1 B5 B5 G2"], 0), copies);
    assert_eq!(deal(0, &["R1 R1 M1 B5 G2"], 0), "M1 is not a card of this variant");
}

#[test]
fn a_turn_that_cannot_be_changes_nothing() {
    let variant = Variant::default();
    let hands = [cards("R1 R1 R1 B5 G2")];
    let mut game = SeenGame::new(variant, Seat::FIRST, &hands, Seat::FIRST).unwrap();
    let refused = |game: &mut SeenGame, played: &str, revealed| {
        let before = game.view().to_string();
        let error = game.play(played.parse().unwrap(), revealed).unwrap_err();
        assert_eq!(game.view().to_string(), before);
        error
    };
    let own = |card: &str| Revealed::OwnCard(card.parse().unwrap());
    let drawn = |card: &str| Revealed::Drawn(card.parse().unwrap());
    let touched =
        |slots: &[usize]| Revealed::Touched(slots.iter().map(|&slot| Slot::ALL[slot]).collect());
    let play = "play 0";
    assert!(matches!(refused(&mut game, "discard 0", own("R2")), SeenGameError::Move { .. }));
    assert!(matches!(
        refused(&mut game, "hint +1 white", Revealed::Nothing),
        SeenGameError::Move { .. }
    ));
    for revealed in [Revealed::Nothing, drawn("R2"), touched(&[0])] {
        let error = refused(&mut game, play, revealed);
        assert!(matches!(error, SeenGameError::Revealed { .. }), "{error}");
    }
    assert_eq!(refused(&mut game, play, own("R1")), SeenGameError::Copies(cards("R1")[0]));
    assert_eq!(refused(&mut game, play, own("M1")), SeenGameError::Card(cards("M1")[0]));
    game.play(play.parse().unwrap(), own("R2")).unwrap();

    for revealed in [Revealed::Nothing, own("R2"), touched(&[0])] {
        let error = refused(&mut game, play, revealed);
        assert!(matches!(error, SeenGameError::Revealed { .. }), "{error}");
    }
    assert_eq!(refused(&mut game, play, drawn("B5")), SeenGameError::Copies(cards("B5")[0]));
    let hint = "hint +1 red";
    assert!(matches!(refused(&mut game, hint, touched(&[])), SeenGameError::Move { .. }));
    assert_eq!(refused(&mut game, hint, touched(&[0, 5])), SeenGameError::OwnHand);
    let error = refused(&mut game, hint, Revealed::Nothing);
    assert!(matches!(error, SeenGameError::Revealed { .. }), "{error}");
    // One R2, two R3, two R4 and one R5 are left; a rank hint then leaves too few of them.
    game.play(hint.parse().unwrap(), touched(&[0, 1])).unwrap();
    game.play("hint +1 blue".parse().unwrap(), Revealed::Nothing).unwrap();
    let rank = "hint +1 rank 2";
    assert_eq!(refused(&mut game, rank, touched(&[0, 1])), SeenGameError::OwnHand);
    game.play(rank.parse().unwrap(), touched(&[0])).unwrap();
    assert_eq!(refused(&mut game, "play 0", own("G2")), SeenGameError::OwnHand);
    assert_eq!(refused(&mut game, "play 2", own("R3")), SeenGameError::OwnHand);
    game.play("play 0".parse().unwrap(), own("R2")).unwrap();
}
