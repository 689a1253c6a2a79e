//! Weights so large that numbers of a forward pass may leave the range of `f32`.

use crate::nn::any_network::Network;
use crate::nn::color_network::ColorNetwork;
use crate::nn::linear::{Linear, UnitBounds};
use crate::nn::network::{Gru, HiddenLayer, PlainNetwork, trunk_place};
use crate::rules::MAX_COLORS;

/// The largest bound that is accepted: differences of outputs are finite as well.
const LARGEST: f64 = f32::MAX as f64 / 4.0;

/// The first layer that may overflow for some inputs from 0 to 1.
///
/// The absolute value of each unit is bounded layer by layer. All partial sums are within the bound
/// too, so that no order of summation overflows.
pub(super) fn overflowing_layer(network: &Network) -> Option<String> {
    match network {
        Network::Plain(network) => overflowing_plain(network),
        Network::Colors(network) => overflowing_colors(network),
    }
}

fn overflowing_colors(network: &ColorNetwork) -> Option<String> {
    let ones = |count: usize| vec![1.0; count];
    let global = ones(network.features.global().len());
    // The first two layers of a colour are sums of two layers each.
    let sum = |name: &str, own: &Linear, own_inputs: &[f64], other: &Linear, inputs: &[f64]| {
        let (own, other) = (own.bounds(own_inputs), other.bounds(inputs));
        // The numbers of all colours are added.
        if (largest(&own) + largest(&other)) * MAX_COLORS as f64 > LARGEST {
            return Err(name.to_owned());
        }
        let sums = own.iter().zip(&other).map(|(own, other)| (own.output + other.output).max(0.0));
        Ok(sums.collect::<Vec<f64>>())
    };
    let relu = |name: &str, layer: &Linear, inputs: &[f64]| {
        let bounds = layer.bounds(inputs);
        if largest(&bounds) > LARGEST {
            return Err(name.to_owned());
        }
        Ok(bounds.iter().map(|unit| unit.output.max(0.0)).collect::<Vec<f64>>())
    };
    let twice = |bounds: &[f64]| [bounds, bounds].concat();
    let check = || {
        let [first, second] = &network.color;
        let row = ones(network.features.row().len());
        let tower = sum("color.0", first, &row, &network.color_rest, &global)?;
        let tower = sum("color.1", second, &tower, &network.color_pooled, &twice(&tower))?;
        let global = relu("rest", &network.rest, &global)?;
        let mut trunk = relu("trunk", &network.trunk, &[twice(&tower), global].concat())?;
        if let Some(gru) = &network.gru {
            if largest_sum(gru, &trunk) > LARGEST {
                return Err("memory".to_owned());
            }
            trunk = ones(trunk.len());
        }
        let (heads, colors) = (network.heads.bounds(&trunk), network.color_heads.bounds(&tower));
        let fits = largest(&heads) + largest(&colors) <= LARGEST;
        if fits { Ok(()) } else { Err("heads".to_owned()) }
    };
    check().err()
}

fn overflowing_plain(network: &PlainNetwork) -> Option<String> {
    let mut inputs = vec![1.0; network.inputs()];
    for (index, hidden) in network.trunk.iter().enumerate() {
        let place = trunk_place(index, hidden.norm.is_some());
        match outputs(hidden, &inputs) {
            Ok(outputs) => inputs = outputs,
            Err(part) => return Some(format!("trunk.{}", place + part)),
        }
    }
    if let Some(gru) = &network.gru {
        if largest_sum(gru, &inputs) > LARGEST {
            return Some("memory".to_owned());
        }
        inputs = vec![1.0; gru.from_state.outputs() / 3];
    }
    (largest(&network.heads.bounds(&inputs)) > LARGEST).then(|| "heads".to_owned())
}

/// The largest outputs of a hidden layer after ReLU, or the part that may overflow: 0 for the
/// linear layer, 1 for its normalisation.
fn outputs(hidden: &HiddenLayer, inputs: &[f64]) -> Result<Vec<f64>, usize> {
    let bounds = hidden.layer.bounds(inputs);
    let largest = largest(&bounds);
    if largest > LARGEST {
        return Err(0);
    }
    let Some(norm) = &hidden.norm else {
        return Ok(bounds.iter().map(|unit| unit.output.max(0.0)).collect());
    };
    // Squares of deviations from the mean are added. What is normalised is at most the square root
    // of the number of units.
    let units = bounds.len() as f64;
    let scaled = norm
        .scale
        .iter()
        .zip(&norm.shift)
        .map(|(scale, shift)| units.sqrt() * f64::from(scale.abs()) + f64::from(shift.abs()));
    let outputs: Vec<f64> = scaled.collect();
    let fits = units * (2.0 * largest).powi(2) <= LARGEST
        && outputs.iter().all(|&output| output <= LARGEST);
    if fits { Ok(outputs) } else { Err(1) }
}

/// The largest sum of what a recurrent unit computes from its inputs and from the hidden state,
/// which is from -1 to 1.
fn largest_sum(gru: &Gru, inputs: &[f64]) -> f64 {
    let of = |layer: &Linear, inputs: &[f64]| largest(&layer.bounds(inputs));
    of(&gru.from_input, inputs) + of(&gru.from_state, &vec![1.0; gru.from_state.outputs() / 3])
}

fn largest(bounds: &[UnitBounds]) -> f64 {
    bounds.iter().map(|unit| unit.magnitude).fold(0.0, f64::max)
}
