//! Reads a network from a file's tensors.

use half::{bf16, f16};
use safetensors::{Dtype, SafeTensors};

use super::error::PolicyProblem;
use super::header::Header;
use super::range::overflowing_layer;
use crate::nn::any_network::Network;
use crate::nn::card_features::CardFeatures;
use crate::nn::color_network::{ColorActions, ColorNetwork};
use crate::nn::layer_norm::LayerNorm;
use crate::nn::linear::Linear;
use crate::nn::network::{Gru, HiddenLayer, PlainNetwork, trunk_place};
use crate::nn::{CardWeights, ColorFeatures};

/// The network that the header describes.
pub(super) fn read_network(
    header: &Header,
    file: &SafeTensors<'_>,
) -> Result<Network, PolicyProblem> {
    let mut tensors = TensorReader { file, read: Vec::new() };
    let network = match header.by_color {
        None => Network::Plain(Box::new(read_plain(header, &mut tensors)?)),
        Some(weights) => Network::Colors(Box::new(read_colors(header, weights, &mut tensors)?)),
    };
    tensors.refuse_others()?;
    match overflowing_layer(&network) {
        None => Ok(network),
        Some(layer) => Err(PolicyProblem::new(format!(
            "the outputs of {layer} may leave the range of float32: expected smaller weights"
        ))),
    }
}

/// The problem that the header's encoder does not suffice for the inputs that are computed from it.
fn lacks_sections(header: &Header) -> PolicyProblem {
    let encoder = header.encoder.name();
    let missing = format!("encoder={encoder:?} lacks the sections that they need");
    PolicyProblem::key(format!("card_features=true: {missing}"))
}

fn read_plain(
    header: &Header,
    tensors: &mut TensorReader<'_>,
) -> Result<PlainNetwork, PolicyProblem> {
    let layout = header.encoder.layout(&header.variant);
    let card_features = if header.card_features {
        let features = CardFeatures::new(&header.variant, &layout);
        Some(features.ok_or_else(|| lacks_sections(header))?)
    } else {
        None
    };
    let mut width = layout.len() + card_features.as_ref().map_or(0, CardFeatures::len);
    let mut trunk = Vec::with_capacity(header.hidden.len());
    for (index, &hidden) in header.hidden.iter().enumerate() {
        let place = trunk_place(index, header.layer_norm);
        let layer = tensors.layer(&format!("trunk.{place}"), hidden, width)?;
        let norm = header.layer_norm.then(|| tensors.norm(&format!("trunk.{}", place + 1), hidden));
        trunk.push(HiddenLayer { layer, norm: norm.transpose()? });
        width = hidden;
    }
    let gru = header.recurrent.then(|| tensors.gru(width)).transpose()?;
    let heads = tensors.layer("heads", header.variant.num_actions() + 1, width)?;
    Ok(PlainNetwork { bits: layout.len(), card_features, trunk, gru, heads })
}

fn read_colors(
    header: &Header,
    weights: CardWeights,
    tensors: &mut TensorReader<'_>,
) -> Result<ColorNetwork, PolicyProblem> {
    let layout = header.encoder.layout(&header.variant);
    let features = ColorFeatures::new(&header.variant, &layout, weights);
    let features = features.ok_or_else(|| lacks_sections(header))?;
    let actions = ColorActions::of(&header.variant);
    let (row, global) = (features.row().len(), features.global().len());
    let (width, trunk) = (header.hidden[0], header.hidden[1]);
    Ok(ColorNetwork {
        color: [tensors.layer("color.0", width, row)?, tensors.layer("color.1", width, width)?],
        color_rest: tensors.layer("color_rest", width, global)?,
        color_pooled: tensors.layer("color_pooled", width, 2 * width)?,
        rest: tensors.layer("rest", width, global)?,
        trunk: tensors.layer("trunk", trunk, 3 * width)?,
        gru: header.recurrent.then(|| tensors.gru(trunk)).transpose()?,
        heads: tensors.layer("heads", actions.rows(), trunk)?,
        color_heads: tensors.layer("color_heads", actions.groups, width)?,
        features,
        actions,
    })
}

/// Reads tensors of a file, and keeps the names of those read.
struct TensorReader<'a> {
    file: &'a SafeTensors<'a>,
    read: Vec<String>,
}

impl TensorReader<'_> {
    fn layer(
        &mut self,
        name: &str,
        outputs: usize,
        inputs: usize,
    ) -> Result<Linear, PolicyProblem> {
        let weights = self.numbers(format!("{name}.weight"), &[outputs, inputs])?;
        let bias = self.numbers(format!("{name}.bias"), &[outputs])?;
        Ok(Linear::new(&weights, &bias))
    }

    /// A recurrent unit as wide as its input.
    fn gru(&mut self, width: usize) -> Result<Gru, PolicyProblem> {
        let from_input = self.layer("memory.from_input", 3 * width, width)?;
        let from_state = self.layer("memory.from_state", 3 * width, width)?;
        Ok(Gru { from_input, from_state })
    }

    fn norm(&mut self, name: &str, outputs: usize) -> Result<LayerNorm, PolicyProblem> {
        let scale = self.numbers(format!("{name}.weight"), &[outputs])?;
        let shift = self.numbers(format!("{name}.bias"), &[outputs])?;
        Ok(LayerNorm { scale, shift })
    }

    fn numbers(&mut self, name: String, shape: &[usize]) -> Result<Vec<f32>, PolicyProblem> {
        let Ok(tensor) = self.file.tensor(&name) else {
            let text = format!("tensor {name:?} is missing: expected shape {shape:?}");
            return Err(PolicyProblem::new(text));
        };
        if tensor.shape() != shape {
            let found = tensor.shape();
            let text = format!("tensor {name:?} has shape {found:?}: expected {shape:?}");
            return Err(PolicyProblem::new(text));
        }
        let data = tensor.data();
        let halves = || data.as_chunks::<2>().0.iter();
        let numbers: Vec<f32> = match tensor.dtype() {
            Dtype::F32 => data.as_chunks().0.iter().map(|&it| f32::from_le_bytes(it)).collect(),
            Dtype::F16 => halves().map(|&it| f16::from_le_bytes(it).to_f32()).collect(),
            Dtype::BF16 => halves().map(|&it| bf16::from_le_bytes(it).to_f32()).collect(),
            found => {
                let expected = "expected F32, F16 or BF16";
                let text = format!("tensor {name:?} has dtype {found:?}: {expected}");
                return Err(PolicyProblem::new(text));
            }
        };
        if let Some(index) = numbers.iter().position(|number| !number.is_finite()) {
            let found = format!("{} at index {index}", numbers[index]);
            let text = format!("tensor {name:?} has {found}: expected finite numbers");
            return Err(PolicyProblem::new(text));
        }
        self.read.push(name);
        Ok(numbers)
    }

    /// Refuses tensors that were not read.
    fn refuse_others(&self) -> Result<(), PolicyProblem> {
        let mut names = self.file.names();
        names.sort_unstable();
        match names.into_iter().find(|name| !self.read.iter().any(|read| read == name)) {
            None => Ok(()),
            Some(name) => Err(PolicyProblem::new(format!(
                "tensor {name:?} is not one of this network's: expected {}",
                self.read.join(", ")
            ))),
        }
    }
}
