//! Weights so large that numbers of a forward pass may leave the range of `f32`.

use crate::nn::color_network::ColorNetwork;
use crate::nn::linear::{Linear, UnitBounds};
use crate::rules::MAX_COLORS;

/// The largest bound that is accepted: differences of outputs are finite as well.
const LARGEST: f64 = f32::MAX as f64 / 4.0;

/// The first layer that may overflow for some inputs from 0 to 1.
///
/// The absolute value of each unit is bounded layer by layer. All partial sums are within the bound
/// too, so that no order of summation overflows.
pub(super) fn overflowing_layer(network: &ColorNetwork) -> Option<String> {
    let ones = |count: usize| vec![1.0; count];
    let rest = ones(network.features.rest().len());
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
        let tower = sum("color.0", first, &row, &network.color_rest, &rest)?;
        let tower = sum("color.1", second, &tower, &network.color_pooled, &twice(&tower))?;
        let rest = relu("rest", &network.rest, &rest)?;
        let trunk = relu("trunk", &network.trunk, &[twice(&tower), rest].concat())?;
        let (heads, colors) = (network.heads.bounds(&trunk), network.color_heads.bounds(&tower));
        let fits = largest(&heads) + largest(&colors) <= LARGEST;
        if fits { Ok(()) } else { Err("heads".to_owned()) }
    };
    check().err()
}

fn largest(bounds: &[UnitBounds]) -> f64 {
    bounds.iter().map(|unit| unit.magnitude).fold(0.0, f64::max)
}
