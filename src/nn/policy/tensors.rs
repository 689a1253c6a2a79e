//! Reads a network from a file's tensors.

use half::{bf16, f16};
use safetensors::{Dtype, SafeTensors};

use super::error::PolicyProblem;
use super::header::Header;
use super::range::overflowing_layer;
use crate::nn::ColorFeatures;
use crate::nn::color_network::{ColorActions, ColorNetwork};
use crate::nn::linear::Linear;

/// The network that the header describes.
pub(super) fn read_network(
    header: &Header,
    file: &SafeTensors<'_>,
) -> Result<ColorNetwork, PolicyProblem> {
    let mut tensors = TensorReader { file, read: Vec::new() };
    let network = read_colors(header, &mut tensors)?;
    tensors.refuse_others()?;
    match overflowing_layer(&network) {
        None => Ok(network),
        Some(layer) => Err(PolicyProblem::new(format!(
            "the outputs of {layer} may leave the range of float32: expected smaller weights"
        ))),
    }
}

fn read_colors(
    header: &Header,
    tensors: &mut TensorReader<'_>,
) -> Result<ColorNetwork, PolicyProblem> {
    let layout = header.encoder.layout(&header.variant);
    let features = ColorFeatures::new(&header.variant, &layout, header.weights);
    let features = features.ok_or_else(|| {
        let encoder = header.encoder.name();
        PolicyProblem::key(format!(
            "encoder={encoder:?} lacks the sections that features by colour need"
        ))
    })?;
    let actions = ColorActions::of(&header.variant);
    let (row, rest) = (features.row().len(), features.rest().len());
    let [width, trunk] = header.hidden;
    Ok(ColorNetwork {
        color: [tensors.layer("color.0", width, row)?, tensors.layer("color.1", width, width)?],
        color_rest: tensors.layer("color_rest", width, rest)?,
        color_pooled: tensors.layer("color_pooled", width, 2 * width)?,
        rest: tensors.layer("rest", width, rest)?,
        trunk: tensors.layer("trunk", trunk, 3 * width)?,
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
