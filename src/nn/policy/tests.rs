//! Tests of policy files and of their forward passes.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::choice::{best, sample};
use super::*;
use crate::buffers::Simd;
use crate::encode::Encoder;
use crate::nn::PolicyScratch;
use crate::nn::any_network::Network;
use crate::nn::layer_norm::LayerNorm;
use crate::nn::linear::Linear;
use crate::nn::network::{Gru, HiddenLayer, PlainNetwork};
use crate::nn::sparse_rows::SparseRows;
use crate::rules::{
    ActionId, ActionSet, EpisodeSeed, GameRng, Offset, Parameters, Slot, State, Variant, View,
    error_text,
};

/// Pseudo-random numbers between -1 and 1.
struct Numbers(GameRng);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0.below_u64(1 << 24) as f32 / 2f32.powi(23) - 1.0
    }

    fn take(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.next()).collect()
    }
}

type Tensor = (String, Vec<usize>, Vec<f32>);

/// A safetensors file.
fn file(metadata: &Value, tensors: &[Tensor]) -> Vec<u8> {
    let (mut header, mut data) = (Map::new(), Vec::new());
    header.insert("__metadata__".to_owned(), metadata.clone());
    for (name, shape, numbers) in tensors {
        let start = data.len();
        data.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        let about = json!({"dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]});
        header.insert(name.clone(), about);
    }
    let header = serde_json::to_vec(&header).unwrap();
    [&(header.len() as u64).to_le_bytes(), header.as_slice(), &data].concat()
}

pub fn small() -> Parameters {
    Parameters { players: 3, colors: 2, ranks: 3, hand_size: Some(2), ..Parameters::default() }
}

fn header(parameters: &Parameters, recurrent: bool) -> Value {
    json!({
        "format": 1, "variant": parameters, "encoder": "canonical", "hidden": [11, 9],
        "recurrent": recurrent, "card_features": true, "note": "ignored",
    })
}

fn tensors(parameters: &Parameters, recurrent: bool) -> Vec<Tensor> {
    let variant = Variant::new(parameters.clone()).unwrap();
    let cards = (2 * variant.players() - 1) * variant.hand_size();
    let inputs = Encoder::Canonical.layout(&variant).len() + 2 * usize::from(cards);
    let memory: &[_] =
        if recurrent { &[("memory.from_input", 27, 9), ("memory.from_state", 27, 9)] } else { &[] };
    let heads = variant.num_actions() + 1;
    let layers = [("trunk.0", 11, inputs), ("trunk.2", 9, 11), ("heads", heads, 9)];
    let mut numbers = Numbers(GameRng::for_samples(1));
    let tensors = |&(name, outputs, inputs): &(&str, usize, usize)| {
        let weights = numbers.take(outputs * inputs);
        let bias = numbers.take(outputs);
        [
            (format!("{name}.weight"), vec![outputs, inputs], weights),
            (format!("{name}.bias"), vec![outputs], bias),
        ]
    };
    layers.iter().chain(memory).flat_map(tensors).collect()
}

pub fn policy_file(parameters: &Parameters, recurrent: bool) -> Vec<u8> {
    let metadata =
        json!({"starmine": header(parameters, recurrent).to_string(), "card": "ignored"});
    file(&metadata, &tensors(parameters, recurrent))
}

/// A naive linear layer.
fn plain_layer(tensors: &[Tensor], name: &str, inputs: &[f32]) -> Vec<f32> {
    let find = |part| &tensors.iter().find(|it| it.0 == format!("{name}.{part}")).unwrap().2;
    let rows = find("weight").chunks(inputs.len()).zip(find("bias"));
    let sum = |(row, &bias): (&[f32], &f32)| {
        row.iter().zip(inputs).fold(bias, |sum, (weight, input)| sum + weight * input)
    };
    rows.map(sum).collect()
}

/// Naive card features.
fn plain_features(view: &View<'_>) -> Vec<f32> {
    let variant = view.variant();
    let height = |card: crate::rules::Card| usize::from(view.fireworks()[card.suit.index()]);
    let mut features = Vec::new();
    let mut push = |cards: Vec<crate::rules::Card>| {
        let share = |is: &dyn Fn(crate::rules::Card) -> bool| {
            let count = cards.iter().filter(|&&card| is(card)).count();
            count as f32 * (1.0 / cards.len().max(1) as f32)
        };
        features.push(share(&|card| card.rank.index() == height(card)));
        features.push(share(&|card| card.rank.index() < height(card)));
    };
    let slots = usize::from(variant.hand_size());
    for offset in variant.teammates() {
        let hand: Vec<_> = view.hand(offset).collect();
        (0..slots).for_each(|slot| push(hand.get(slot).copied().into_iter().collect()));
    }
    for seat in variant.seats() {
        let offset = Offset::ALL[seat.index()];
        let hints = |slot| {
            let known = view.knowledge(offset, slot);
            known.map_or_else(Vec::new, |known| known.plausible().iter().collect())
        };
        Slot::ALL[..slots].iter().copied().for_each(|slot| push(hints(slot)));
    }
    features
}

#[test]
fn a_layer_that_was_computed_by_hand() {
    let layer = Linear::new(&[1.0, 2.0, 3.0, -1.0, 0.5, 0.0], &[0.5, -1.0]);
    for simd in Simd::available() {
        let (mut rows, mut sums) = (SparseRows::default(), Vec::new());
        rows.fill(simd, &[2.0, -0.0, 1.0, 0.0, 4.0, 0.0], 3);
        layer.apply(simd, &rows, &mut sums);
        assert_eq!(sums, [5.5, -3.0, 8.5, 1.0], "{simd}");
    }
}

#[test]
fn the_inputs_of_a_row_are_the_same_with_every_instruction_set() {
    let numbers: Vec<f32> = (0u8..50).map(|index| f32::from(index % 3) - 1.0).collect();
    let mut expected = SparseRows::default();
    expected.fill(Simd::Portable, &numbers, 25);
    for simd in Simd::available() {
        let mut rows = SparseRows::default();
        rows.fill(simd, &numbers, 25);
        for row in 0..2 {
            assert_eq!(rows.inputs(row, &(0..1)), expected.inputs(row, &(0..1)), "{simd}");
        }
    }
}

#[test]
fn layers_of_any_width_are_summed_in_the_order_of_their_inputs() {
    // The widths of towers and trunks of 96 and 256 units and of 192 and 512, their heads, and
    // widths that fill no vector or no segment.
    let shapes = [
        (96, 131),
        (256, 288),
        (192, 131),
        (192, 384),
        (512, 576),
        (17, 512),
        (4, 192),
        (1, 1),
        (16, 96),
        (97, 97),
        (130, 300),
    ];
    let mut numbers = Numbers(GameRng::for_samples(5));
    for (outputs, inputs) in shapes {
        let (weights, bias) = (numbers.take(outputs * inputs), numbers.take(outputs));
        let layer = Linear::new(&weights, &bias);
        for rows in [1, 2, 5] {
            let mut given = numbers.take(rows * inputs);
            given.iter_mut().for_each(|number| *number = number.max(0.0));
            let sum = |row: &[f32], output: usize| {
                let products = weights[output * inputs..].iter().zip(row);
                products.fold(bias[output], |sum, (weight, input)| sum + weight * input)
            };
            let expected: Vec<f32> = given
                .chunks(inputs)
                .flat_map(|row| (0..outputs).map(move |output| sum(row, output)))
                .collect();
            for simd in Simd::available() {
                let (mut whole, mut parts) = (SparseRows::default(), SparseRows::default());
                whole.fill(simd, &given, inputs);
                for row in given.chunks(inputs) {
                    let (first, second) = row.split_at(inputs / 3);
                    parts.push(simd, [first, second]);
                }
                for (rows, name) in [(whole, "whole"), (parts, "parts")] {
                    let mut sums = Vec::new();
                    layer.apply(simd, &rows, &mut sums);
                    let count = rows.len();
                    assert_eq!(sums, expected, "{inputs} to {outputs}, {count} {name}, {simd}");
                }
            }
        }
    }
}

#[test]
fn a_norm_that_was_computed_by_hand() {
    let norm = LayerNorm { scale: vec![2.0, 1.0, 1.0, 1.0], shift: vec![0.0, 0.0, 3.0, 0.0] };
    let mut numbers = [1.0f32, 3.0, 1.0, 3.0];
    norm.apply(&mut numbers);
    for (found, expected) in numbers.into_iter().zip([-2.0, 1.0, 2.0, 1.0]) {
        assert!((found - expected).abs() < 2e-5, "{found} {expected}");
    }
    let mut equal = [7.0; 11];
    LayerNorm { scale: vec![1.0; 11], shift: vec![0.5; 11] }.apply(&mut equal);
    assert_eq!(equal, [0.5; 11]);
}

#[test]
fn a_network_that_was_computed_by_hand() {
    let network = Network::Plain(Box::new(PlainNetwork {
        bits: 2,
        card_features: None,
        trunk: vec![HiddenLayer {
            layer: Linear::new(&[1.0, -1.0, 2.0, 2.0], &[0.0, -1.0]),
            norm: None,
        }],
        gru: Some(Gru {
            from_input: Linear::new(&[1.0, 0.0, 0.0, 0.0, 0.0, 1.0], &[0.0, 0.0, 0.0]),
            from_state: Linear::new(&[1.0, 0.0, 0.0], &[0.0, 0.0, 0.0]),
        }),
        heads: Linear::new(&[4.0, -2.0], &[0.0, 1.0]),
    }));
    let (mut state, mut scratch) = ([0.0], PolicyScratch::default());
    // The hidden layer maps the first bit to 1 and 1. The gates are sigmoid(0), so the state
    // becomes half of the candidate.
    network.apply(&[0b01], &mut state, &mut scratch);
    let first = 1f32.tanh() / 2.0;
    assert!((state[0] - first).abs() < 1e-6);
    // The hidden layer maps the second bit to 0 and 1.
    let logits = network.apply(&[0b10], &mut state, &mut scratch).to_vec();
    let candidate = (first / (1.0 + (-1f32).exp())).tanh();
    let second = (candidate + first) / 2.0;
    assert!((state[0] - second).abs() < 1e-6);
    assert_eq!(logits, [4.0 * state[0], 1.0 - 2.0 * state[0]]);
}

#[test]
fn a_policy_computes_the_same_as_naive_loops() {
    for players in 2..=5 {
        for recurrent in [false, true] {
            let parameters = Parameters { players, timed_display: players == 3, ..small() };
            let tensors = tensors(&parameters, recurrent);
            let policy = Policy::from_bytes(&policy_file(&parameters, recurrent)).unwrap();
            let variant = Arc::new(Variant::new(parameters).unwrap());
            let mut state = State::new(variant.clone(), EpisodeSeed::default());
            let mut scratch = PolicyScratch::default();
            let mut memories = vec![vec![0.0; policy.state_width()]; variant.players().into()];
            let mut plain_memories = memories.clone();
            while state.ending().is_none() {
                let seat = state.position().current_player;
                let view = state.view(seat);
                let mut words = vec![0; policy.num_bits().div_ceil(64)];
                Encoder::Canonical.encode_view(&view, &mut words);
                let bits =
                    (0..policy.num_bits()).map(|bit| (words[bit / 64] >> (bit % 64) & 1) as f32);
                let mut x: Vec<f32> = bits.chain(plain_features(&view)).collect();
                for name in ["trunk.0", "trunk.2"] {
                    x = plain_layer(&tensors, name, &x).iter().map(|sum| sum.max(0.0)).collect();
                }
                if recurrent {
                    let old =
                        plain_layer(&tensors, "memory.from_state", &plain_memories[seat.index()]);
                    let given = plain_layer(&tensors, "memory.from_input", &x);
                    let sigmoid = |number: f32| 1.0 / (1.0 + (-number).exp());
                    for (index, memory) in plain_memories[seat.index()].iter_mut().enumerate() {
                        let reset = sigmoid(given[18 + index] + old[18 + index]);
                        let candidate = (given[index] + reset * old[index]).tanh();
                        let keep = sigmoid(given[9 + index] + old[9 + index]);
                        *memory = candidate + keep * (*memory - candidate);
                    }
                    x = plain_memories[seat.index()].clone();
                }
                let expected = plain_layer(&tensors, "heads", &x);
                let logits =
                    policy.logits(&words, &mut memories[seat.index()], &mut scratch).to_vec();
                for (found, expected) in logits.iter().zip(&expected) {
                    // Equal to the bit without recurrence.
                    let allowed = if recurrent { 1e-5 } else { 0.0 };
                    assert!((found - expected).abs() <= allowed, "{found} {expected}");
                }
                let action = best(view.legal_actions(), |action| logits[action]);
                state.apply(ActionId::new(action).unwrap()).unwrap();
            }
        }
    }
}

#[test]
fn the_best_action_is_legal_and_the_lowest_of_equal_ones() {
    assert_eq!(best(ActionSet(0b1110), |action| [9.0, 1.0, 3.0, 3.0][action]), 2);
    assert_eq!(best(ActionSet(0b110), |action| [0.0, f32::NAN, 3.0][action]), 1);
    assert_eq!(best(ActionSet(0b10), |action| [-1e30, f32::NEG_INFINITY][action]), 1);
}

#[test]
fn actions_are_sampled_by_their_probabilities() {
    let (logits, legal) = ([1.0, 50.0, 0.0, 1.0], ActionSet(0b1101));
    let (mut rng, mut hits) = (GameRng::for_samples(0), [0; 4]);
    for _ in 0..20_000 {
        hits[sample(&logits, legal, 0, &mut rng)] += 1;
    }
    let e = 1f64.exp();
    for (hits, share) in hits.into_iter().zip([e, 0.0, 1.0, e]) {
        let expected = 20_000.0 * share / (2.0 * e + 1.0);
        assert!((f64::from(hits) - expected).abs() <= 4.0 * expected.sqrt(), "{hits} {expected}");
    }
    // The action is legal also for NaN and infinite logits.
    for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let logits = [odd, 0.0, odd];
        assert_eq!(sample(&logits, ActionSet(0b100), 2, &mut rng), 2);
        assert_ne!(sample(&logits, ActionSet(0b101), 0, &mut rng), 1);
    }
}

/// The error message of a changed file.
fn problem(change: impl FnOnce(&mut Value, &mut Vec<Tensor>)) -> String {
    let (mut header, mut tensors) = (header(&small(), false), tensors(&small(), false));
    change(&mut header, &mut tensors);
    let metadata = json!({"starmine": header.to_string()});
    error_text(&Policy::from_bytes(&file(&metadata, &tensors)).expect_err("it is refused"))
}

#[test]
fn invalid_files_are_refused_with_the_reason() {
    let changed = |key: &'static str, value: Value| problem(|header, _| header[key] = value);
    let expected = [
        (changed("format", json!(3)), "format=3: expected 1 or 2"),
        (changed("format", json!(2)), "network=none: expected colors"),
        (changed("variant", json!({"players": 7})), "players=7 is not allowed: expected 2 to 5"),
        (changed("variant", json!({"player": 2})), "unknown field `player`"),
        (changed("encoder", json!("canonica")), "encoder=\"canonica\" is not known"),
        (changed("encoder", json!("canonical-seer")), "shows the observer's own hand"),
        (changed("hidden", json!([])), "hidden=[]: expected 1 to 16 widths of 1 to 4096"),
        (changed("hidden", json!([1u64 << 40])), "expected 1 to 16 widths"),
        (changed("hidden", json!([-1])), "integer `-1`"),
        (changed("recurrent", json!(true)), "\"memory.from_input.weight\" is missing"),
        (changed("card_features", json!(false)), "has shape [11, "),
        (changed("layer_norm", json!(true)), "\"trunk.1.weight\" is missing"),
        (changed("layer_norm", json!(1)), "invalid type: integer `1`, expected a boolean"),
        (problem(|header, _| *header = json!([])), "format=none: expected 1"),
        (
            problem(|header, _| drop(header.as_object_mut().unwrap().remove("hidden"))),
            "missing field `hidden`",
        ),
        (problem(|_, tensors| drop(tensors.remove(1))), "\"trunk.0.bias\" is missing"),
        (
            problem(|_, tensors| tensors.push(("trunk.4.bias".to_owned(), vec![1], vec![0.0]))),
            "\"trunk.4.bias\" is not one of this network's",
        ),
        (problem(|_, tensors| tensors[3].2[2] = f32::NAN), "has NaN at index 2"),
    ];
    for (message, part) in &expected {
        assert!(message.contains(part), "{message}: expected {part}");
    }
    let nothing = Policy::from_bytes(&file(&json!({}), &[])).err();
    assert!(nothing.unwrap().to_string().contains("no key \"starmine\""));
    let text = Policy::from_bytes(b"not a policy").err();
    assert!(text.unwrap().to_string().contains("not a safetensors file"));
}

#[test]
fn half_precision_tensors_are_read() {
    let ones = |dtype: &str, one: u16| {
        let (header, tensors) = (header(&small(), false), tensors(&small(), false));
        let metadata = json!({"starmine": header.to_string()});
        let (mut header, mut data) = (json!({"__metadata__": metadata}), Vec::new());
        for (name, shape, numbers) in &tensors {
            let start = data.len();
            data.extend(numbers.iter().flat_map(|_| one.to_le_bytes()));
            header[name] =
                json!({"dtype": dtype, "shape": shape, "data_offsets": [start, data.len()]});
        }
        let header = header.to_string();
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &data].concat()
    };
    let logits = |bytes: &[u8]| {
        let policy = Policy::from_bytes(bytes).unwrap();
        let words = vec![0; policy.num_bits().div_ceil(64)];
        policy.logits(&words, &mut [], &mut PolicyScratch::default())[0]
    };
    // 9 hidden outputs of 11 + 1, and the bias 1.
    for (dtype, one) in [("F16", 0x3c00), ("BF16", 0x3f80)] {
        assert_eq!(logits(&ones(dtype, one)), 109.0);
    }
    let refused = Policy::from_bytes(&ones("I16", 1)).err().unwrap().to_string();
    assert!(refused.contains("has dtype I16: expected F32, F16 or BF16"), "{refused}");
}

#[test]
fn many_rows_have_the_logits_of_single_rows_on_every_instruction_set() {
    for recurrent in [false, true] {
        let policy = Policy::from_bytes(&policy_file(&small(), recurrent)).unwrap();
        check_rows(&policy, &Vec::from_iter(1..=40));
    }
    for shipped in POLICIES {
        check_rows(&shipped.policy().unwrap(), &[1, 7, 18]);
    }
}

/// Compares the logits of several rows in one pass with the logits of each row alone.
fn check_rows(policy: &Policy, counts: &[usize]) {
    let all = *counts.iter().max().unwrap();
    let mut state = State::new(Arc::new(policy.variant().clone()), EpisodeSeed::default());
    let width = policy.num_bits().div_ceil(64);
    let mut observations = Vec::new();
    let mut turns = 0;
    while turns < all {
        if state.ending().is_some() {
            let seed = EpisodeSeed { seed: 0, game: turns as u64, episode: 0 };
            state = State::new(state.variant().clone(), seed);
        }
        let mut words = vec![0; width];
        policy.encode_into(&state.view(state.position().current_player), &mut words);
        observations.extend(words);
        turns += 1;
        let legal: Vec<ActionId> = state.legal_actions().iter().collect();
        state.apply(legal[turns * 7 % legal.len()]).unwrap();
    }
    let mut numbers = Numbers(GameRng::for_samples(2));
    let states = numbers.take(turns * policy.state_width());
    let (mut single, mut outputs) = (PolicyScratch::with_simd(Simd::Portable), Vec::new());
    let mut after = states.clone();
    for (row, words) in observations.chunks(width).enumerate() {
        let state = &mut after[row * policy.state_width()..][..policy.state_width()];
        outputs.extend_from_slice(policy.logits(words, state, &mut single));
    }
    for simd in Simd::available() {
        let mut scratch = PolicyScratch::with_simd(simd);
        for &rows in counts {
            let mut found = states.clone();
            let found_states = &mut found[..rows * policy.state_width()];
            let logits = policy.logits(&observations[..rows * width], found_states, &mut scratch);
            assert_eq!(logits, &outputs[..outputs.len() / turns * rows], "{simd}, {rows} rows");
            assert_eq!(found_states, &after[..found_states.len()], "{simd}, {rows} rows");
        }
    }
}

#[test]
fn a_view_of_another_variant_is_refused_before_any_work() {
    let policy = Policy::from_bytes(&policy_file(&small(), false)).unwrap();
    let refusal = |parameters: Parameters| {
        let state = State::new(Variant::new(parameters).unwrap(), EpisodeSeed::default());
        let view = state.view(state.current_player());
        let found = policy.evaluate([view], &mut [], &mut PolicyScratch::default());
        found.err().map(|error| error.to_string())
    };
    let message = refusal(Parameters { players: 4, ..small() }).unwrap();
    assert!(
        message
            .contains("expected the variant that the policy was trained for, in which players=3"),
        "{message}"
    );
    let message = refusal(Parameters { ranks: 2, ..small() }).unwrap();
    assert!(message.contains("ranks=3"), "{message}");
    assert_eq!(refusal(Parameters { random_start_player: true, ..small() }), None);
}

#[test]
fn hidden_states_of_a_wrong_length_are_refused() {
    for (recurrent, length) in [(false, 1), (true, 0)] {
        let policy = Policy::from_bytes(&policy_file(&small(), recurrent)).unwrap();
        let state = State::new(policy.variant().clone(), EpisodeSeed::default());
        let (view, mut states) = (state.view(state.current_player()), vec![0.0; length]);
        let evaluate =
            || policy.evaluate([view], &mut states, &mut PolicyScratch::default()).is_ok();
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(evaluate)).is_err());
    }
}

#[test]
fn outputs_are_those_of_single_observations() {
    for recurrent in [false, true] {
        let policy = Policy::from_bytes(&policy_file(&small(), recurrent)).unwrap();
        let games = (0..70).map(|game| EpisodeSeed { seed: 2, game, episode: 0 });
        let states: Vec<State> =
            games.map(|seed| State::new(policy.variant().clone(), seed)).collect();
        let mut numbers = Numbers(GameRng::for_samples(3));
        let mut hidden_states = numbers.take(states.len() * policy.state_width());
        let mut single_states = hidden_states.clone();
        let (mut scratch, mut rng) = (PolicyScratch::default(), GameRng::for_samples(4));
        let views = states.iter().map(|state| state.view(state.current_player()));
        let outputs = policy.evaluate(views, &mut hidden_states, &mut scratch).unwrap();
        assert_eq!((outputs.len(), outputs.is_empty()), (70, false));
        for (index, state) in states.iter().enumerate() {
            let mut words = vec![0; policy.num_bits().div_ceil(64)];
            policy.encode_into(&state.view(state.current_player()), &mut words);
            let width = policy.state_width();
            let single = &mut single_states[index * width..][..width];
            let row = policy.logits(&words, single, &mut scratch);
            let (value, logits) = row.split_last().unwrap();
            assert_eq!((outputs.logits(index), outputs.value(index)), (logits, *value));
            let logarithms = outputs.log_probabilities(index);
            assert_eq!(logarithms.len(), outputs.legal_actions(index).len());
            let total: f64 = logarithms.iter().map(|(_, logarithm)| logarithm.exp()).sum();
            assert!((total - 1.0).abs() < 1e-12);
            let greedy = outputs.action(index, MoveChoice::Greedy, &mut rng).unwrap();
            let legal = outputs.legal_actions(index);
            assert!(legal.iter().all(|action| logits[action.index()] <= logits[greedy.index()]));
            assert!(legal.contains(outputs.action(index, MoveChoice::Sampled, &mut rng).unwrap()));
        }
        assert_eq!(hidden_states, single_states);
    }
}
