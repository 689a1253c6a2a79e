//! No combination of parameters panics, allowed or not: 100,000 of them are drawn, some with numbers outside
//! their ranges, and one random game of each allowed variant is played to its end.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use starmine::encode::Encoder;
use starmine::rules::{EpisodeSeed, Parameters, Seat, State, Variant};

#[allow(dead_code)] // one of its functions
#[path = "../src/rules/variants/random_variant.rs"]
mod random_variant;

use random_variant::random_parameters;

/// At least so many; `PROPTEST_CASES` may ask for more.
const CASES: u32 = 100_000;

/// Random parameters of which some lie outside their ranges. They are drawn from a list of numbers,
/// which proptest shrinks to simpler parameters.
fn parameters() -> impl Strategy<Value = Parameters> {
    (prop::collection::vec(any::<u32>(), 100), any::<i64>()).prop_map(|(numbers, extreme)| {
        let mut numbers = numbers.into_iter();
        let mut below = |bound| numbers.next().unwrap_or(0) % bound;
        let mut parameters = random_parameters(&mut below);
        spoil(&mut parameters, extreme, &mut below);
        parameters
    })
}

/// Replaces a number by one a little or far outside its range, each in one of thirty cases, and takes
/// a row from the copies.
fn spoil(parameters: &mut Parameters, extreme: i64, mut below: impl FnMut(u32) -> u32) {
    let Parameters {
        players,
        colors,
        ranks,
        hand_size,
        max_information_tokens,
        max_life_tokens,
        copies,
        ..
    } = parameters;
    let counts = copies.iter_mut().flatten().flatten().take(1);
    let numbers = [players, colors, ranks, max_information_tokens, max_life_tokens];
    for number in numbers.into_iter().chain(hand_size).chain(counts) {
        if below(30) == 1 {
            *number = [extreme, 255, 0, 4, 7, 9, 17][below(7) as usize];
        }
    }
    if below(10) == 1
        && let Some(rows) = copies
    {
        rows.pop();
    }
}

fn play_to_the_end(variant: &Arc<Variant>, seed: u64) -> &'static str {
    let mut state = State::new(variant.clone(), EpisodeSeed::new(seed));
    let mut choice = seed;
    while state.ending().is_none() {
        let legal: Vec<_> = state.legal_actions().iter().collect();
        choice = choice.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let action = legal[(choice >> 33) as usize % legal.len()];
        state.apply(action).expect("a legal action");
    }
    for &encoder in Encoder::ALL {
        let mut words = vec![0; encoder.layout(variant).words()];
        encoder.encode_into(&state.seer_view(Seat::FIRST), &mut words);
    }
    assert!(state.score() <= variant.max_score());
    state.ending().expect("the loop ran to the end").name()
}

#[test]
fn nothing_panics_for_any_parameters() {
    let mut outcomes: BTreeMap<String, u32> = BTreeMap::new();
    let mut runner = TestRunner::new(Config {
        cases: Config::default().cases.max(CASES),
        failure_persistence: None,
        ..Config::default()
    });
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
