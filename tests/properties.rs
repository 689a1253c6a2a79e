//! Invariants of random games of random variants.

use std::sync::Arc;

use proptest::prelude::*;
use starmine::batch::{
    AutoresetMode, Batch, Dtype, IllegalAction, ObservationBuffer, Observers, Options, Outputs,
};
use starmine::buffers::WriteOnly;
use starmine::rules::{
    ActionId, Belief, Card, CardSet, Edition, EpisodeSeed, GameRng, Move, Offset, Parameters, Seat,
    Slot, State, Variant,
};

#[path = "../src/rules/variants/random_variant.rs"]
mod random_variant;

use random_variant::random_variant;

/// Any variant. It is drawn from a list of numbers, which proptest shrinks to simpler variants.
fn variants() -> impl Strategy<Value = Arc<Variant>> {
    prop::collection::vec(any::<u32>(), 100).prop_map(|numbers| {
        let mut numbers = numbers.into_iter();
        Arc::new(random_variant(|bound| numbers.next().unwrap_or(0) % bound))
    })
}

/// Plays random legal moves to the end and calls `look` with the state before and after each.
fn play(mut state: State, mut choose: impl FnMut() -> u32, mut look: impl FnMut(&State)) -> State {
    look(&state);
    while state.ending().is_none() {
        let legal: Vec<_> = state.legal_actions().iter().collect();
        let action = legal[choose() as usize % legal.len()];
        state.apply(action).unwrap();
        look(&state);
    }
    state
}

/// A small generator of choices (Marsaglia, "Xorshift RNGs", 2003).
fn chooser(seed: u32) -> impl FnMut() -> u32 {
    let mut word = seed | 1;
    move || {
        word ^= word << 13;
        word ^= word >> 17;
        word ^= word << 5;
        word >> 8
    }
}

fn new_game(variant: &Arc<Variant>, seed: u64) -> State {
    State::new(variant.clone(), EpisodeSeed::new(seed))
}

fn count_cards(state: &State) -> usize {
    let variant = state.variant();
    let view = state.view(state.current_player());
    let hands: usize =
        variant.seats().map(|seat| state.seer_view(seat).hand(Offset::OWN).count()).sum();
    let discards = state.discard_pile().count();
    hands + discards + usize::from(view.fireworks().iter().sum::<u8>() + view.deck_size())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(300), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cards_are_conserved(variant in variants(), seed: u64, choices: u32) {
        play(new_game(&variant, seed), chooser(choices), |state| {
            assert_eq!(count_cards(state), usize::from(variant.deck_size()));
            for card in variant.card_kinds() {
                let discarded = state.discard_pile().filter(|&other| other == card).count();
                assert_eq!(discarded, usize::from(state.view(Seat::FIRST).discarded(card)));
            }
        });
    }

    #[test]
    fn a_legal_action_is_never_refused_and_an_illegal_one_never_accepted(
        variant in variants(), seed: u64, choices: u32,
    ) {
        play(new_game(&variant, seed), chooser(choices), |state| {
            for action in (0..=variant.num_actions()).filter_map(ActionId::new) {
                let legal = state.legal_actions().contains(action);
                let mut copy = state.clone();
                assert_eq!(copy.apply(action).is_ok(), legal);
                assert_eq!(copy == *state, !legal);
                let Ok(played) = variant.action_to_move(action) else { continue };
                let mut played_out = state.clone();
                assert_eq!(played_out.play(played).is_ok(), legal);
                assert_eq!(played_out, copy);
            }
        });
    }

    #[test]
    fn rewards_sum_to_the_score(variant in variants(), seed: u64, choices: u32) {
        let (mut sum, mut before) = (0, 0);
        let end = play(new_game(&variant, seed), chooser(choices), |state| {
            sum += i32::from(state.score()) - before;
            before = i32::from(state.score());
        });
        prop_assert_eq!(sum, i32::from(end.score()));
    }

    #[test]
    fn a_stored_state_is_played_again_equal(variant in variants(), seed: u64, choices: u32) {
        let end = play(new_game(&variant, seed), chooser(choices), |_| ());
        let stored = serde_json::to_string(&end).unwrap();
        prop_assert_eq!(serde_json::from_str::<State>(&stored).unwrap(), end);
    }

    #[test]
    fn moves_and_actions_are_a_bijection_and_their_text_parses(variant in variants()) {
        for action in variant.action_ids() {
            let played = variant.action_to_move(action).unwrap();
            prop_assert_eq!(variant.move_to_action(played), Some(action));
            prop_assert_eq!(played.to_string().parse::<Move>().unwrap(), played);
            for edition in Edition::ALL.iter().copied() {
                prop_assert_eq!(edition.move_text(played).parse::<Move>().unwrap(), played);
                prop_assert_eq!(edition.meaning(played).parse::<Move>().unwrap(), played);
            }
        }
    }

    #[test]
    fn a_seat_believes_its_true_hand_possible_and_samples_hands_that_could_be_it(
        variant in variants(), seed: u64, choices: u32,
    ) {
        let mut rng = GameRng::for_samples(seed);
        play(new_game(&variant, seed), chooser(choices), |state| {
            variant.seats().for_each(|seat| check_belief(state, seat, &mut rng));
        });
    }

    #[test]
    fn a_batch_equals_single_states_and_resumes_from_its_bytes(
        variant in variants(), seed: u64, choices: u32, threads in 1usize..4, num_envs in 1usize..9,
    ) {
        let options = Options {
            dtype: Dtype::Bits,
            observers: Observers::All,
            autoreset_mode: AutoresetMode::SameStep,
            illegal_action: IllegalAction::Raise,
            num_threads: threads,
            ..Options::default()
        };
        let mut choose = chooser(choices);
        let mut batch = Batch::new(variant.clone(), num_envs, seed, options).unwrap();
        let deal = |game, episode| State::new(variant.clone(), EpisodeSeed { seed, game, episode });
        let mut episodes = vec![0; num_envs];
        let mut states: Vec<State> = (0..num_envs as u64).map(|game| deal(game, 0)).collect();
        let mut rows = vec![0; num_envs * batch.num_observers() * batch.row_length()];
        let mut mask = vec![false; num_envs * variant.num_actions()];
        let mut reward = vec![0.0; num_envs];
        for turn in 0..40 {
            let pick = |state: &State| {
                let legal: Vec<_> = state.legal_actions().iter().collect();
                legal[choose() as usize % legal.len()]
            };
            let actions: Vec<ActionId> = states.iter().map(pick).collect();
            let numbers: Vec<i64> = actions.iter().map(|&id| u8::from(id).into()).collect();
            let outputs = Outputs {
                obs: Some(ObservationBuffer::Bits(WriteOnly::new(&mut rows))),
                action_mask: Some(WriteOnly::new(&mut mask)),
                reward: Some(WriteOnly::new(&mut reward)),
                ..Outputs::default()
            };
            batch.step(&numbers, outputs).unwrap();
            for game in 0..num_envs {
                let single = states[game].apply(actions[game]).unwrap();
                prop_assert_eq!(f32::from(single), reward[game]);
                if states[game].ending().is_some() {
                    episodes[game] += 1;
                    states[game] = deal(game as u64, episodes[game]);
                }
                let expected = states[game].seer_view(Seat::FIRST);
                let is_same = batch.look_as_seer(game, Seat::FIRST, |view| *view == expected);
                prop_assert!(is_same, "game {}: {}", game, states[game]);
            }
            if turn == 20 {
                batch = Batch::from_bytes(&batch.to_bytes().unwrap(), Some(threads)).unwrap();
            }
        }
        check_rows(&batch, &states, &rows, &mask);
    }
}

fn check_belief(state: &State, seat: Seat, rng: &mut GameRng) {
    let (variant, view) = (state.variant(), state.view(seat));
    let (kinds, belief) = (variant.num_card_kinds(), Belief::new(&view));
    let truth: Vec<Card> = state.seer_view(seat).hand(Offset::OWN).collect();
    let sample: Vec<Card> = belief.sample(rng).expect("the true hand is possible").collect();
    assert_eq!(sample.len(), truth.len());
    let mut rows = vec![f64::NAN; truth.len() * kinds];
    belief.write_marginals(&mut rows);
    for (slot, row) in Slot::ALL.into_iter().zip(rows.chunks(kinds)) {
        let possible = belief.possible(slot);
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let known = view.knowledge(Offset::OWN, slot).expect("the slot has a card");
        assert!(possible.is_subset(known.plausible(variant)));
        for (card, &share) in row.iter().enumerate() {
            let [of_card, of_any] = belief.probabilities(slot, [CardSet::of(card), possible]);
            assert!(of_card == share && possible.contains(card) == (share > 0.0));
            assert!((of_any - 1.0).abs() < 1e-12);
        }
        let held = [truth[slot.index()], sample[slot.index()]];
        assert!(held.into_iter().all(|card| possible.contains(variant.card_index(card))));
        assert!(possible.len() > 1 || row.contains(&1.0));
    }
    // The visible cards and a sampled hand together have at most all copies of each card.
    for card in variant.card_kinds() {
        let held = |offset| view.hand(offset).filter(|&other| other == card).count();
        let held: usize = variant.teammates().map(held).sum();
        let sampled = sample.iter().filter(|&&other| other == card).count();
        let played = usize::from(view.stack(card.suit) > card.rank.index() as u8);
        let seen = held + played + usize::from(view.discarded(card));
        assert!(seen + sampled <= variant.copies(card).into());
    }
}

fn check_rows(batch: &Batch, states: &[State], rows: &[u8], mask: &[bool]) {
    let (length, num_actions) = (batch.row_length(), batch.variant().num_actions());
    let encoder = &batch.options().encoder;
    for (game, state) in states.iter().enumerate() {
        for seat in 0..batch.num_observers() {
            let mut words = vec![0; length / 8];
            encoder.encode_into(&state.seer_view(Seat::ALL[seat]), &mut words);
            let expected: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let row = game * batch.num_observers() + seat;
            assert_eq!(
                rows[row * length..(row + 1) * length],
                expected,
                "game {game}, seat {seat}"
            );
        }
        for action in 0..num_actions {
            assert_eq!(
                mask[game * num_actions + action],
                state.legal_actions().bits() >> action & 1 == 1
            );
        }
    }
}

#[test]
fn no_offset_shows_a_view_its_own_hand() {
    for players in 2..=5 {
        let variant =
            Arc::new(Variant::new(Parameters { players, ..Parameters::default() }).unwrap());
        let state = new_game(&variant, 7);
        for seat in variant.seats() {
            let own: Vec<_> = state.seer_view(seat).hand(Offset::OWN).collect();
            let view = state.view(seat);
            assert_eq!(view.hand(Offset::OWN).len(), 0);
            for offset in variant.teammates() {
                assert!(!view.hand(offset).eq(own.iter().copied()), "{players} players, {offset}");
            }
            for beyond in Offset::ALL.into_iter().skip(variant.players().into()) {
                let hand = std::panic::catch_unwind(|| view.hand(beyond).len());
                hand.expect_err("there is no such seat");
            }
        }
    }
}

#[test]
fn every_parameter_of_a_random_variant_takes_several_values() {
    let mut rng = GameRng::for_samples(0);
    let drawn: Vec<serde_json::Value> = (0..200)
        .map(|_| random_variant(|bound| rng.below(bound)))
        .map(|variant| serde_json::to_value(variant.parameters()).unwrap())
        .collect();
    for name in drawn[0].as_object().unwrap().keys() {
        let first = &drawn[0][name];
        assert!(
            drawn.iter().any(|parameters| parameters[name] != *first),
            "{name} is always {first}"
        );
    }
}
