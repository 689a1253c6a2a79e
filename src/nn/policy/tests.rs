//! Tests of policy files and of their forward passes.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::choice::{best, sample};
use super::*;
use crate::buffers::InstructionSet;
use crate::encode::Encoder;
use crate::nn::PolicyScratch;
use crate::nn::color_network::ColorActions;
use crate::nn::linear::Linear;
use crate::nn::sparse_rows::SparseRows;
use crate::nn::{CardWeights, ColorFeatures};
use crate::rules::{
    ActionId, ActionSet, EpisodeSeed, GameRng, Parameters, State, Variant, error_text,
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

fn header(parameters: &Parameters) -> Value {
    json!({
        "format": 2, "network": "colors", "variant": parameters, "encoder": "canonical",
        "hidden": [11, 9], "weights": "slots", "recurrent": false, "note": "ignored",
    })
}

/// The features of a variant.
fn features(variant: &Variant) -> ColorFeatures {
    let layout = Encoder::Canonical.layout(variant);
    ColorFeatures::new(variant, &layout, CardWeights::Slots).unwrap()
}

/// Random tensors of this seed.
fn tensors(parameters: &Parameters, seed: u64) -> Vec<Tensor> {
    let variant = Variant::new(parameters.clone()).unwrap();
    let (features, actions) = (features(&variant), ColorActions::of(&variant));
    let (row, rest) = (features.row().len(), features.rest().len());
    let layers = [
        ("color.0", 11, row),
        ("color.1", 11, 11),
        ("color_rest", 11, rest),
        ("color_pooled", 11, 22),
        ("rest", 11, rest),
        ("trunk", 9, 33),
        ("heads", actions.rows(), 9),
        ("color_heads", actions.groups, 11),
    ];
    let mut numbers = Numbers(GameRng::for_samples(seed));
    let tensors = |&(name, outputs, inputs): &(&str, usize, usize)| {
        let weights = numbers.take(outputs * inputs);
        let bias = numbers.take(outputs);
        [
            (format!("{name}.weight"), vec![outputs, inputs], weights),
            (format!("{name}.bias"), vec![outputs], bias),
        ]
    };
    layers.iter().flat_map(tensors).collect()
}

/// The file of a policy with random weights of this seed.
pub fn policy_file(parameters: &Parameters, seed: u64) -> Vec<u8> {
    let metadata = json!({"starmine": header(parameters).to_string(), "card": "ignored"});
    file(&metadata, &tensors(parameters, seed))
}

/// A naive linear layer.
fn plain_layer(tensors: &[Tensor], name: &str, inputs: &[f32]) -> Vec<f32> {
    let find =
        |part| &tensors.iter().find(|tensor| tensor.0 == format!("{name}.{part}")).unwrap().2;
    let rows = find("weight").chunks(inputs.len()).zip(find("bias"));
    let sum = |(row, &bias): (&[f32], &f32)| {
        row.iter().zip(inputs).fold(bias, |sum, (weight, input)| sum + weight * input)
    };
    rows.map(sum).collect()
}

/// The naive mean and maximum of the colours' units.
fn plain_pool(towers: &[Vec<f32>]) -> Vec<f32> {
    let units = |unit: usize| towers.iter().map(move |tower| tower[unit]);
    let means = (0..towers[0].len()).map(|unit| units(unit).sum::<f32>() / towers.len() as f32);
    let most = (0..towers[0].len()).map(|unit| units(unit).fold(f32::MIN, f32::max));
    means.chain(most).collect()
}

/// The naive logits and the value of an observation.
fn plain_outputs(variant: &Variant, tensors: &[Tensor], words: &[u64]) -> Vec<f32> {
    let (features, actions) = (features(variant), ColorActions::of(variant));
    let mut numbers = vec![0.0; features.len()];
    features.write(words, &mut numbers);
    let (colors, rest) = numbers.split_at(features.colors() * features.row().len());
    let relu = |sums: Vec<f32>| -> Vec<f32> { sums.iter().map(|sum| sum.max(0.0)).collect() };
    let sum =
        |one: Vec<f32>, other: &[f32]| relu(one.iter().zip(other).map(|(a, b)| a + b).collect());
    let layer = |name: &str, inputs: &[f32]| plain_layer(tensors, name, inputs);
    let shared = layer("color_rest", rest);
    let rows = colors.chunks(features.row().len());
    let towers: Vec<Vec<f32>> = rows.map(|row| sum(layer("color.0", row), &shared)).collect();
    let shared = layer("color_pooled", &plain_pool(&towers));
    let towers: Vec<Vec<f32>> =
        towers.iter().map(|tower| sum(layer("color.1", tower), &shared)).collect();
    let trunk = [plain_pool(&towers), relu(layer("rest", rest))].concat();
    let heads = layer("heads", &relu(layer("trunk", &trunk)));
    let groups: Vec<Vec<f32>> = towers.iter().map(|tower| layer("color_heads", tower)).collect();
    let logit = |&(head, color): &(usize, Option<usize>)| {
        heads[head] + color.map_or(0.0, |color: usize| groups[color][head - actions.plain])
    };
    actions.heads.iter().map(logit).chain(heads.last().copied()).collect()
}

#[test]
fn a_layer_that_was_computed_by_hand() {
    let layer = Linear::new(&[1.0, 2.0, 3.0, -1.0, 0.5, 0.0], &[0.5, -1.0]);
    for simd in InstructionSet::available() {
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
    expected.fill(InstructionSet::PORTABLE, &numbers, 25);
    for simd in InstructionSet::available() {
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
            for simd in InstructionSet::available() {
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
fn a_policy_computes_the_same_as_naive_loops() {
    for players in 2..=5 {
        let parameters = Parameters { players, timed_display: players == 3, ..small() };
        let tensors = tensors(&parameters, 1);
        let policy = Policy::from_bytes(&policy_file(&parameters, 1)).unwrap();
        let variant = Arc::new(Variant::new(parameters).unwrap());
        let mut state = State::new(variant.clone(), EpisodeSeed::default());
        let mut scratch = PolicyScratch::default();
        while state.ending().is_none() {
            let view = state.view(state.position().current_player);
            let mut words = vec![0; policy.num_bits().div_ceil(64)];
            Encoder::Canonical.encode_view(&view, &mut words);
            let expected = plain_outputs(&variant, &tensors, &words);
            let logits = policy.logits(&words, &mut scratch).to_vec();
            assert_eq!(logits.len(), expected.len());
            for (found, expected) in logits.iter().zip(&expected) {
                assert!((found - expected).abs() <= 1e-3, "{found} {expected}");
            }
            let action = best(view.legal_actions(), |action| logits[action]);
            state.apply(ActionId::new(action).unwrap()).unwrap();
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
    let (mut header, mut tensors) = (header(&small()), tensors(&small(), 1));
    change(&mut header, &mut tensors);
    let metadata = json!({"starmine": header.to_string()});
    error_text(&Policy::from_bytes(&file(&metadata, &tensors)).expect_err("it is refused"))
}

#[test]
fn invalid_files_are_refused_with_the_reason() {
    let changed = |key: &'static str, value: Value| problem(|header, _| header[key] = value);
    let expected = [
        (changed("format", json!(3)), "format=3: expected 2"),
        (changed("format", json!(1)), "format=1: PyTorch plays this network"),
        (changed("network", json!("plain")), "network=plain: expected colors"),
        (changed("variant", json!({"players": 7})), "players=7 is not allowed: expected 2 to 5"),
        (changed("variant", json!({"player": 2})), "unknown field `player`"),
        (changed("encoder", json!("canonica")), "encoder=\"canonica\" is not known"),
        (changed("encoder", json!("canonical-seer")), "shows the observer's own hand"),
        (changed("encoder", json!("canonical-minimal")), "lacks the sections"),
        (changed("hidden", json!([11])), "hidden=[11]: expected two widths of 1 to 4096"),
        (changed("hidden", json!([11, 1u64 << 40])), "expected two widths"),
        (changed("hidden", json!([-1, 9])), "integer `-1`"),
        (changed("weights", json!("slot")), "slots"),
        (changed("recurrent", json!(true)), "recurrent=true: PyTorch plays this network"),
        (changed("card_features", json!(true)), "expected false by colour"),
        (changed("layer_norm", json!(1)), "invalid type: integer `1`, expected a boolean"),
        (changed("hidden", json!([12, 9])), "has shape [11, "),
        (problem(|header, _| *header = json!([])), "format=none: expected 2"),
        (
            problem(|header, _| drop(header.as_object_mut().unwrap().remove("hidden"))),
            "missing field `hidden`",
        ),
        (problem(|_, tensors| drop(tensors.remove(1))), "\"color.0.bias\" is missing"),
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
        let (header, tensors) = (header(&small()), tensors(&small(), 1));
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
    let value = |bytes: &[u8]| {
        let policy = Policy::from_bytes(bytes).unwrap();
        let words = vec![0; policy.num_bits().div_ceil(64)];
        *policy.logits(&words, &mut PolicyScratch::default()).last().unwrap()
    };
    let variant = Variant::new(small()).unwrap();
    let ones_everywhere: Vec<Tensor> = tensors(&small(), 1)
        .into_iter()
        .map(|(name, shape, numbers)| (name, shape, vec![1.0; numbers.len()]))
        .collect();
    let words = vec![0; Encoder::Canonical.layout(&variant).len().div_ceil(64)];
    let expected = *plain_outputs(&variant, &ones_everywhere, &words).last().unwrap();
    for (dtype, one) in [("F16", 0x3c00), ("BF16", 0x3f80)] {
        let found = value(&ones(dtype, one));
        assert!((found / expected - 1.0).abs() < 1e-5, "{found} {expected}");
    }
    let refused = Policy::from_bytes(&ones("I16", 1)).err().unwrap().to_string();
    assert!(refused.contains("has dtype I16: expected F32, F16 or BF16"), "{refused}");
}

#[test]
fn many_rows_have_the_logits_of_single_rows_on_every_instruction_set() {
    let policy = Policy::from_bytes(&policy_file(&small(), 1)).unwrap();
    check_rows(&policy, &Vec::from_iter(1..=40));
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
        policy.encoder().encode_view(&state.view(state.position().current_player), &mut words);
        observations.extend(words);
        turns += 1;
        let legal: Vec<ActionId> = state.legal_actions().iter().collect();
        state.apply(legal[turns * 7 % legal.len()]).unwrap();
    }
    let (mut scratch, mut outputs) = (PolicyScratch::default(), Vec::new());
    for words in observations.chunks(width) {
        outputs.extend_from_slice(policy.network.apply(
            InstructionSet::PORTABLE,
            words,
            &mut scratch,
        ));
    }
    for simd in InstructionSet::available() {
        for &rows in counts {
            let logits = policy.network.apply(simd, &observations[..rows * width], &mut scratch);
            assert_eq!(logits, &outputs[..outputs.len() / turns * rows], "{simd}, {rows} rows");
        }
    }
}

#[test]
fn a_view_of_another_variant_is_refused_before_any_work() {
    let policy = Policy::from_bytes(&policy_file(&small(), 1)).unwrap();
    let refusal = |parameters: Parameters| {
        let state = State::new(Variant::new(parameters).unwrap(), EpisodeSeed::default());
        let view = state.view(state.current_player());
        let found = policy.evaluate([view], &mut PolicyScratch::default());
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
fn outputs_are_those_of_single_observations() {
    let policy = Policy::from_bytes(&policy_file(&small(), 1)).unwrap();
    let games = (0..70).map(|game| EpisodeSeed { seed: 2, game, episode: 0 });
    let states: Vec<State> = games.map(|seed| State::new(policy.variant().clone(), seed)).collect();
    let (mut scratch, mut rng) = (PolicyScratch::default(), GameRng::for_samples(4));
    let views = states.iter().map(|state| state.view(state.current_player()));
    let outputs = policy.evaluate(views, &mut scratch).unwrap();
    assert_eq!((outputs.len(), outputs.is_empty()), (70, false));
    for (index, state) in states.iter().enumerate() {
        let mut words = vec![0; policy.num_bits().div_ceil(64)];
        policy.encoder().encode_view(&state.view(state.current_player()), &mut words);
        let row = policy.logits(&words, &mut scratch);
        let (value, logits) = row.split_last().unwrap();
        assert_eq!((outputs.logits(index), outputs.value(index)), (logits, *value));
        let logarithms = outputs.log_probabilities(index);
        assert_eq!(logarithms.len(), outputs.legal_actions(index).len());
        let total: f64 = logarithms.iter().map(|(_, logarithm)| logarithm.exp()).sum();
        assert!((total - 1.0).abs() < 1e-12);
        let greedy = outputs.action(index, MoveChoice::Greedy, &mut rng).unwrap();
        assert_eq!(outputs.best_action(index), Some(greedy));
        let legal = outputs.legal_actions(index);
        assert!(legal.iter().all(|action| logits[action.index()] <= logits[greedy.index()]));
        assert!(legal.contains(outputs.action(index, MoveChoice::Sampled, &mut rng).unwrap()));
    }
}
