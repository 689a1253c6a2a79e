//! Nothing panics for any combination of parameters, allowed or not: 100,000 of them are drawn from
//! ranges that reach beyond the allowed ones, and what can be built is played at random to its end.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use starmine::encode;
use starmine::rules::{Edition, EpisodeSeed, LostGameScore, Named, Parameters, State, Variant};

const CASES: u32 = 100_000;

/// Mostly within the range, sometimes a little or far outside.
fn around(low: i64, high: i64) -> impl Strategy<Value = i64> {
    prop_oneof![20 => low..=high, 1 => low - 2..=high + 2, 1 => any::<i64>()]
}

prop_compose! {
    fn parameters()(
        players in around(2, 5),
        (colors, ranks) in (around(1, 6), around(1, 5)),
        hand_size in prop::option::of(around(1, 6)),
        (max_information_tokens, max_life_tokens) in (around(0, 16), around(1, 8)),
        copies in prop::option::weighted(0.3, prop::collection::vec(prop::collection::vec(around(1, 3), 5), 6)),
        has_row_too_few in prop::bool::weighted(0.1),
        (random_start_player, empty_hints, crowning_piece, timed_display, keep)
            in any::<(bool, bool, bool, bool, bool)>(),
    ) -> Parameters {
        let at_most = |number: i64, most: usize| usize::try_from(number).map_or(most, |n| n.min(most));
        let rows = at_most(colors.saturating_sub(has_row_too_few.into()), 6);
        let copies = copies.map(|table: Vec<Vec<i64>>| {
            table[..rows].iter().map(|row| row[..at_most(ranks, 5)].to_vec()).collect()
        });
        let lost_game_score = if keep { LostGameScore::Fireworks } else { LostGameScore::Zero };
        Parameters {
            players, colors, ranks, hand_size, max_information_tokens, max_life_tokens, copies,
            random_start_player, empty_hints, crowning_piece, timed_display, lost_game_score,
            edition: Edition::Standard,
        }
    }
}

fn play_to_the_end(variant: &Arc<Variant>, seed: u64) -> &'static str {
    let mut state = State::new(variant.clone(), EpisodeSeed { seed, ..EpisodeSeed::default() });
    let mut choice = seed;
    while state.ending().is_none() {
        let legal: Vec<usize> = state.legal_actions().iter().collect();
        choice = choice.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let action = legal[(choice >> 33) as usize % legal.len()];
        state.apply(action as i64).expect("a legal action");
    }
    for encoder in encode::ENCODERS {
        let mut words = vec![0; encoder.layout(variant).words()];
        encode::encode_into(*encoder, state.view(0), &mut words);
    }
    assert!(state.score() <= variant.max_score());
    state.ending().expect("the loop ran to the end").name()
}

#[test]
fn nothing_panics_for_any_parameters() {
    let mut outcomes: BTreeMap<String, u32> = BTreeMap::new();
    let mut runner =
        TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() });
    let outcomes_ref = std::cell::RefCell::new(&mut outcomes);
    let result = runner.run(&(parameters(), any::<u64>()), |(parameters, seed)| {
        let outcome = match Variant::new(parameters) {
            Ok(variant) => play_to_the_end(&Arc::new(variant), seed).to_owned(),
            Err(error) => {
                assert!(!error.value.is_empty() && !error.allowed.is_empty());
                format!("refused: {}", error.parameter.split('[').next().unwrap_or_default())
            }
        };
        *outcomes_ref.borrow_mut().entry(outcome).or_default() += 1;
        Ok(())
    });
    result.unwrap();
    for name in ["players", "colors", "ranks", "hand_size", "copies"] {
        assert!(outcomes.contains_key(&format!("refused: {name}")), "{name} in {outcomes:?}");
    }
    for ending in ["lost", "perfect", "deck_exhausted", "indispensable_card_lost"] {
        assert!(outcomes.contains_key(ending), "{ending} in {outcomes:?}");
    }
}
