use std::fs::File;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use half::{bf16, f16};
use safetensors::{Dtype, SafeTensors};

use super::card_features::CardFeatures;
use super::error::{PolicyError, PolicyProblem};
use super::header::{Header, MAX_BYTES};
use super::layer_norm::LayerNorm;
use super::linear::Linear;
use super::network::{Gru, HiddenLayer, Network, PolicyScratch};
use super::shipped::known_policies;
use crate::bots::registry::UnsupportedVariant;
use crate::encode::Encoder;
use crate::rules::{Edition, LostGameScore, Parameters, Variant};

/// The key of the header in the metadata.
const KEY: &str = "starmine";

/// A trained policy.
pub struct Policy {
    pub(super) network: Network,
    pub(super) encoder: &'static dyn Encoder,
    variant: Variant,
    header: String,
    checksum: u32,
}

/// The policies from files that are in use, so that bots of the same policy share its weights.
static IN_USE: Mutex<Vec<Weak<Policy>>> = Mutex::new(Vec::new());

impl Policy {
    /// Loads the policy of a file. If a policy of an equal file is in use, returns that one.
    ///
    /// The file is a safetensors file with a JSON header under the key `starmine` of its metadata:
    ///
    /// | key | value |
    /// |---|---|
    /// | `format` | 1 |
    /// | `variant` | the parameters of the variant |
    /// | `encoder` | the name of the encoder of its observations |
    /// | `hidden` | the widths of the hidden layers |
    /// | `recurrent` | whether a gated recurrent unit follows them |
    /// | `card_features` | whether each card adds two computed inputs to the observation |
    /// | `layer_norm` | whether each hidden layer is normalised; optional, false by default |
    ///
    /// Further keys are ignored. The tensors are `F32`, `F16` or `BF16`. The hidden layers are
    /// `trunk.0.weight` of shape (out, in) and `trunk.0.bias`, `trunk.2.weight` and so on. With
    /// layer normalisation they have the numbers 0, 3, 6 and so on, and the normalisations 1, 4, 7:
    /// `trunk.1.weight` of shape (out) and `trunk.1.bias`. The recurrent unit has
    /// `memory.from_input.weight` and `bias`, `memory.from_state.weight` and `bias`. The heads are
    /// `heads.weight` of shape (actions + 1, width) and `heads.bias`; their last row is the value.
    ///
    /// # Errors
    /// [`PolicyError`] if the file cannot be read or is invalid.
    pub fn read(path: &str) -> Result<Arc<Policy>, PolicyError> {
        Ok(shared(Policy::of_file(path, &policy_bytes(path)?)?))
    }

    /// The policy of a file with these contents. The path is for error messages.
    ///
    /// # Errors
    /// [`PolicyError`] if the contents are invalid.
    pub fn of_file(path: &str, bytes: &[u8]) -> Result<Policy, PolicyError> {
        Policy::from_bytes(bytes)
            .map_err(|problem| PolicyError::Refused { path: path.to_owned(), problem })
    }

    /// The policy of a file with these contents.
    ///
    /// # Errors
    /// [`PolicyProblem`] if the contents are invalid.
    pub fn from_bytes(bytes: &[u8]) -> Result<Policy, PolicyProblem> {
        let damaged =
            |error: safetensors::SafeTensorError| PolicyProblem::NotSafetensors(error.to_string());
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
        let texts = metadata.metadata().as_ref();
        let text = texts.and_then(|texts| texts.get(KEY)).ok_or(PolicyProblem::NoHeader)?;
        let header = Header::read(text)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(damaged)?;
        Ok(Policy {
            network: read_network(&header, &tensors)?,
            encoder: header.encoder,
            variant: header.variant,
            header: text.clone(),
            checksum: crc32fast::hash(bytes),
        })
    }

    /// The variant that it was trained for.
    #[must_use]
    pub const fn variant(&self) -> &Variant {
        &self.variant
    }

    /// The encoder of its observations.
    #[must_use]
    pub const fn encoder(&self) -> &'static dyn Encoder {
        self.encoder
    }

    /// The JSON header of its file.
    #[must_use]
    pub fn header(&self) -> &str {
        &self.header
    }

    /// The CRC-32 of its file.
    #[must_use]
    pub const fn checksum(&self) -> u32 {
        self.checksum
    }

    /// Number of bits of an observation.
    #[must_use]
    pub const fn num_bits(&self) -> usize {
        self.network.bits
    }

    /// The width of a seat's hidden state; 0 without recurrence.
    #[must_use]
    pub fn state_width(&self) -> usize {
        self.network.state_width()
    }

    /// Scratch memory for [`Policy::logits`].
    #[must_use]
    pub fn scratch(&self) -> PolicyScratch {
        self.network.scratch()
    }

    /// A forward pass: the logits of all actions, then the value. The observation is packed with
    /// the first bit lowest and zero padding. `hidden_state` is that of the seat, zero before its
    /// first turn, and is updated.
    ///
    /// # Panics
    /// If the observation or the hidden state has the wrong size, or the scratch memory belongs to
    /// another policy.
    pub fn logits<'a>(
        &self,
        words: &[u64],
        hidden_state: &mut [f32],
        scratch: &'a mut PolicyScratch,
    ) -> &'a [f32] {
        assert_eq!(words.len(), self.num_bits().div_ceil(64), "words of an observation");
        assert_eq!(hidden_state.len(), self.state_width(), "width of a hidden state");
        self.network.apply(words, hidden_state, scratch)
    }

    /// Refuses a variant that differs from the policy's own, except in parameters that do not
    /// change the play: `random_start_player`, `lost_game_score` and `edition`.
    pub(in crate::bots) fn check(
        &self,
        name: &str,
        variant: &Variant,
    ) -> Result<(), UnsupportedVariant> {
        let differences = differences(&self.variant, variant);
        if differences.is_empty() {
            return Ok(());
        }
        Err(UnsupportedVariant {
            name: name.to_owned(),
            variant: variant.to_string(),
            expected: format!(
                "the variant that the policy was trained for, in which {}",
                differences.join(", ")
            ),
        })
    }
}

/// The contents of a policy file.
///
/// # Errors
/// [`PolicyError`] if the file cannot be read or is too large.
pub fn policy_bytes(path: &str) -> Result<Vec<u8>, PolicyError> {
    let unreadable = |error: std::io::Error| PolicyError::Unreadable {
        path: path.to_owned(),
        problem: error.to_string(),
        known: known_policies(),
    };
    // Checked before opening, which would block on a named pipe.
    let about = std::fs::metadata(path).map_err(unreadable)?;
    if !about.is_file() {
        return Err(unreadable(std::io::Error::other("not a file")));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        let problem = PolicyProblem::TooLarge { bytes: about.len() };
        return Err(PolicyError::Refused { path: path.to_owned(), problem });
    }
    Ok(bytes)
}

/// An equal policy that is in use; otherwise this one, which is registered.
fn shared(policy: Policy) -> Arc<Policy> {
    let is_same = |other: &Arc<Policy>| {
        other.checksum == policy.checksum
            && other.header == policy.header
            && other.network == policy.network
    };
    let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
    in_use.retain(|other| other.strong_count() > 0);
    if let Some(same) = in_use.iter().filter_map(Weak::upgrade).find(is_same) {
        return same;
    }
    let policy = Arc::new(policy);
    in_use.push(Arc::downgrade(&policy));
    policy
}

/// The parameters that matter to a policy and differ, as `name=value` of the first variant.
fn differences(own: &Variant, given: &Variant) -> Vec<String> {
    let fields = |variant: &Variant| {
        let parameters = Parameters {
            random_start_player: false,
            lost_game_score: LostGameScore::Zero,
            edition: Edition::Standard,
            ..variant.parameters().clone()
        };
        serde_json::to_value(parameters).expect("plain data becomes JSON")
    };
    let (own, given) = (fields(own), fields(given));
    let own = own.as_object().into_iter().flatten();
    own.filter(|(name, value)| given.get(name) != Some(value))
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}

/// The network that the header describes.
fn read_network(header: &Header, file: &SafeTensors<'_>) -> Result<Network, PolicyProblem> {
    let layout = header.encoder.layout(&header.variant);
    let card_features = if header.card_features {
        let features = CardFeatures::new(&header.variant, &layout);
        Some(features.ok_or(PolicyProblem::CardFeatures { encoder: header.encoder.name() })?)
    } else {
        None
    };
    let mut tensors = TensorReader { file, read: Vec::new() };
    let mut width = layout.len() + card_features.as_ref().map_or(0, CardFeatures::len);
    let mut trunk = Vec::with_capacity(header.hidden.len());
    for (index, &hidden) in header.hidden.iter().enumerate() {
        let place = index * if header.layer_norm { 3 } else { 2 };
        let layer = tensors.layer(&format!("trunk.{place}"), hidden, width)?;
        let norm = header.layer_norm.then(|| tensors.norm(&format!("trunk.{}", place + 1), hidden));
        trunk.push(HiddenLayer { layer, norm: norm.transpose()? });
        width = hidden;
    }
    let gru = if header.recurrent {
        let from_input = tensors.layer("memory.from_input", 3 * width, width)?;
        let from_state = tensors.layer("memory.from_state", 3 * width, width)?;
        Some(Gru { from_input, from_state })
    } else {
        None
    };
    let heads = tensors.layer("heads", header.variant.num_actions() + 1, width)?;
    tensors.refuse_others()?;
    Ok(Network { bits: layout.len(), card_features, trunk, gru, heads })
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

    fn norm(&mut self, name: &str, outputs: usize) -> Result<LayerNorm, PolicyProblem> {
        let scale = self.numbers(format!("{name}.weight"), &[outputs])?;
        let shift = self.numbers(format!("{name}.bias"), &[outputs])?;
        Ok(LayerNorm { scale, shift })
    }

    fn numbers(&mut self, name: String, shape: &[usize]) -> Result<Vec<f32>, PolicyProblem> {
        let Ok(tensor) = self.file.tensor(&name) else {
            return Err(PolicyProblem::Missing { name, expected: shape.to_vec() });
        };
        if tensor.shape() != shape {
            let (found, expected) = (tensor.shape().to_vec(), shape.to_vec());
            return Err(PolicyProblem::Shape { name, found, expected });
        }
        let data = tensor.data();
        let halves = || data.as_chunks::<2>().0.iter();
        let numbers: Vec<f32> = match tensor.dtype() {
            Dtype::F32 => data.as_chunks().0.iter().map(|&it| f32::from_le_bytes(it)).collect(),
            Dtype::F16 => halves().map(|&it| f16::from_le_bytes(it).to_f32()).collect(),
            Dtype::BF16 => halves().map(|&it| bf16::from_le_bytes(it).to_f32()).collect(),
            other => return Err(PolicyProblem::Dtype { name, found: format!("{other:?}") }),
        };
        if let Some(index) = numbers.iter().position(|number| !number.is_finite()) {
            let found = numbers[index].to_string();
            return Err(PolicyProblem::NotFinite { name, index, found });
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
            Some(name) => Err(PolicyProblem::Unexpected {
                name: name.to_owned(),
                expected: self.read.join(", "),
            }),
        }
    }
}
