use std::fs::File;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use half::{bf16, f16};
use safetensors::{Dtype, SafeTensors};

use super::error::{PolicyError, PolicyProblem};
use super::features::CardFeatures;
use super::header::Header;
use super::layer::Layer;
use super::network::{Hidden, Memory, Network, PolicyScratch};
use super::norm::Norm;
use super::shipped::known_policies;
use crate::bots::registry::UnsupportedVariant;
use crate::encode::Encoder;
use crate::rules::{Edition, LostGameScore, Parameters, Variant};

/// Largest file that is read, so that a wrong path does not fill the memory.
pub(super) const MAX_BYTES: u64 = 1 << 28;
/// What the metadata keeps the JSON text under.
const KEY: &str = "starmine";

/// A trained policy, as its file says.
pub struct Policy {
    pub(super) network: Network,
    pub(super) encoder: &'static dyn Encoder,
    variant: Variant,
    header: String,
    checksum: u32,
}

/// The policies of files that are in use, so that those who play the same one share its weights.
static IN_USE: Mutex<Vec<Weak<Policy>>> = Mutex::new(Vec::new());

impl Policy {
    /// The policy of a file. As long as another of equal files is in use, it is that one.
    ///
    /// A file is a safetensors file. Under the key `starmine` of its metadata is a JSON text:
    ///
    /// | key | value |
    /// |---|---|
    /// | `format` | 1 |
    /// | `variant` | the parameters of the variant that it plays |
    /// | `encoder` | the name of the encoder whose observations it gets |
    /// | `hidden` | the widths of the hidden layers |
    /// | `recurrent` | whether a gated recurrent unit follows them |
    /// | `card_features` | whether its observations have two numbers more for each card |
    /// | `layer_norm` | whether each hidden layer's outputs are normalised; may be missing |
    ///
    /// Further keys are not read. The tensors are `F32`, `F16` or `BF16`: of the hidden layers
    /// `trunk.0.weight` (out, in) and `trunk.0.bias`, `trunk.2.weight` and so on. Where layers are
    /// normalised, they are at 0, 3, 6 and so on, and their norms at 1, 4, 7: `trunk.1.weight`
    /// (out) and `trunk.1.bias`. Then `memory.from_input.weight` and `bias`,
    /// `memory.from_state.weight` and `bias`; `heads.weight` (actions + 1, width) and `heads.bias`,
    /// whose last row is the value.
    ///
    /// # Errors
    /// [`PolicyError`], which says what is wrong with the file.
    pub fn read(path: &str) -> Result<Arc<Policy>, PolicyError> {
        Ok(shared(Policy::of_file(path, &policy_bytes(path)?)?))
    }

    /// The policy of these bytes, which an error says are those of this file.
    ///
    /// # Errors
    /// [`PolicyError`], which says what is wrong with them.
    pub fn of_file(path: &str, bytes: &[u8]) -> Result<Policy, PolicyError> {
        Policy::from_bytes(bytes)
            .map_err(|problem| PolicyError::Refused { path: path.to_owned(), problem })
    }

    /// The policy of a file with these bytes.
    ///
    /// # Errors
    /// [`PolicyProblem`], which says what is wrong with them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Policy, PolicyProblem> {
        let damaged =
            |error: safetensors::SafeTensorError| PolicyProblem::NotSafetensors(error.to_string());
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
        let texts = metadata.metadata().as_ref();
        let header = texts.and_then(|texts| texts.get(KEY)).ok_or(PolicyProblem::NoHeader)?;
        let said = Header::read(header)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(damaged)?;
        Ok(Policy {
            network: read_network(&said, &tensors)?,
            encoder: said.encoder,
            variant: said.variant,
            header: header.clone(),
            checksum: crc32fast::hash(bytes),
        })
    }

    /// The variant that it was trained for.
    #[must_use]
    pub const fn variant(&self) -> &Variant {
        &self.variant
    }

    /// The encoder whose observations it gets.
    #[must_use]
    pub const fn encoder(&self) -> &'static dyn Encoder {
        self.encoder
    }

    /// The JSON text in which its file says what it plays.
    #[must_use]
    pub fn header(&self) -> &str {
        &self.header
    }

    /// The CRC-32 of its file.
    #[must_use]
    pub const fn checksum(&self) -> u32 {
        self.checksum
    }

    /// Bits of an observation.
    #[must_use]
    pub const fn num_bits(&self) -> usize {
        self.network.bits
    }

    /// Numbers that it remembers between the turns of a seat; none without recurrence.
    #[must_use]
    pub fn memory_width(&self) -> usize {
        self.network.memory_width()
    }

    /// What [`Policy::logits`] needs while it computes.
    #[must_use]
    pub fn scratch(&self) -> PolicyScratch {
        self.network.scratch()
    }

    /// The logits of all actions, and after them the value, of an observation, the first bit
    /// lowest, the rest zero. `memory` becomes that after the turn; before a seat's first turn it
    /// is zero.
    ///
    /// # Panics
    /// When the observation or the memory has another size, or the scratch is another policy's.
    pub fn logits<'a>(
        &self,
        words: &[u64],
        memory: &mut [f32],
        scratch: &'a mut PolicyScratch,
    ) -> &'a [f32] {
        assert_eq!(words.len(), self.num_bits().div_ceil(64), "words of an observation");
        assert_eq!(memory.len(), self.memory_width(), "numbers of a memory");
        self.network.apply(words, memory, scratch)
    }

    /// Refuses a variant in which more differs from its own than the names and what is said
    /// before and after the game.
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

/// The bytes of a policy's file.
///
/// # Errors
/// [`PolicyError`]: it cannot be read, or is far too large for one.
pub fn policy_bytes(path: &str) -> Result<Vec<u8>, PolicyError> {
    let unreadable = |error: std::io::Error| PolicyError::Unreadable {
        path: path.to_owned(),
        problem: error.to_string(),
        known: known_policies(),
    };
    // Not after opening, which waits where the path is a pipe's.
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

/// One like this that is in use, else this one, which is then.
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

/// The parameters that matter to a policy and differ, as they are in the first variant.
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

/// The network that the header promises.
fn read_network(said: &Header, file: &SafeTensors<'_>) -> Result<Network, PolicyProblem> {
    let layout = said.encoder.layout(&said.variant);
    let card_features = if said.card_features {
        let features = CardFeatures::new(&said.variant, &layout);
        Some(features.ok_or(PolicyProblem::CardFeatures { encoder: said.encoder.name() })?)
    } else {
        None
    };
    let mut tensors = Tensors { file, read: Vec::new() };
    let mut width = layout.len() + card_features.as_ref().map_or(0, CardFeatures::len);
    let mut trunk = Vec::with_capacity(said.hidden.len());
    for (index, &hidden) in said.hidden.iter().enumerate() {
        let place = index * if said.layer_norm { 3 } else { 2 };
        let layer = tensors.layer(&format!("trunk.{place}"), hidden, width)?;
        let norm = said.layer_norm.then(|| tensors.norm(&format!("trunk.{}", place + 1), hidden));
        trunk.push(Hidden { layer, norm: norm.transpose()? });
        width = hidden;
    }
    let memory = if said.recurrent {
        let from_input = tensors.layer("memory.from_input", 3 * width, width)?;
        let from_state = tensors.layer("memory.from_state", 3 * width, width)?;
        Some(Memory { from_input, from_state })
    } else {
        None
    };
    let heads = tensors.layer("heads", said.variant.num_actions() + 1, width)?;
    tensors.refuse_others()?;
    Ok(Network { bits: layout.len(), card_features, trunk, memory, heads })
}

/// The tensors of a file, and the names of those that were read.
struct Tensors<'a> {
    file: &'a SafeTensors<'a>,
    read: Vec<String>,
}

impl Tensors<'_> {
    fn layer(&mut self, name: &str, outputs: usize, inputs: usize) -> Result<Layer, PolicyProblem> {
        let weights = self.numbers(format!("{name}.weight"), &[outputs, inputs])?;
        let bias = self.numbers(format!("{name}.bias"), &[outputs])?;
        Ok(Layer::new(&weights, &bias))
    }

    fn norm(&mut self, name: &str, outputs: usize) -> Result<Norm, PolicyProblem> {
        let scale = self.numbers(format!("{name}.weight"), &[outputs])?;
        let shift = self.numbers(format!("{name}.bias"), &[outputs])?;
        Ok(Norm { scale, shift })
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
