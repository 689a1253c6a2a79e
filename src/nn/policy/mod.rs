//! Policy files: the weights of a network with a header, fully validated before use.
//!
//! To ship a policy, add its file and its row in [`POLICIES`].

mod choice;
mod error;
mod header;
mod load;
mod outputs;
mod range;
mod shipped_policies;
mod tensors;
#[cfg(test)]
pub mod tests;

pub use choice::MoveChoice;
pub use error::{PolicyError, PolicyProblem};
pub use load::load_policy;
pub use load::policy_bytes;
pub use load::read_policy;
pub use outputs::PolicyOutputs;
pub use shipped_policies::{POLICIES, ShippedPolicy, shipped_policy};

use std::fmt;

use safetensors::SafeTensors;

use crate::buffers::InstructionSet;
use crate::encode::Encoder;
use crate::nn::color_network::ColorNetwork;
use crate::nn::scratch::PolicyScratch;
use crate::rules::{PRESETS, Parameters, Preset, UnsupportedVariantError, Variant, View};
use header::Header;
use tensors::read_network;

/// The key of the header in the metadata.
const KEY: &str = "starmine";

/// A trained policy: a network by colour without recurrence.
///
/// The file is a safetensors file with a JSON header under the key `starmine` of its metadata:
///
/// | key | value |
/// |---|---|
/// | `format` | 2 |
/// | `network` | `colors` |
/// | `variant` | the parameters of the variant |
/// | `encoder` | the name of the encoder of its observations |
/// | `hidden` | the width of a colour's tower and the width of the trunk |
/// | `weights` | how own cards are weighed: `slots` or `hands`: each slot by itself, or all slots together |
/// | `recurrent` | false |
/// | `card_features`, `layer_norm` | false or absent |
///
/// Further keys are ignored. The tensors are `F32`, `F16` or `BF16`. The layers, each with `weight` of
/// shape (out, in) and `bias`, are `color.0`, `color_rest`, `color.1`, `color_pooled`, `rest`, `trunk`,
/// `heads` (a row for each action without a colour, for each group of actions that differ in their
/// colour alone, and for the value) and `color_heads` (a row for each group).
///
/// Files with other networks, of format 1 or with recurrence, play through PyTorch in the Python
/// package.
pub struct Policy {
    network: ColorNetwork,
    /// The instruction set of its passes.
    simd: InstructionSet,
    encoder: Encoder,
    variant: Variant,
    header: String,
    bytes: Box<[u8]>,
    checksum: u32,
}

impl fmt::Debug for Policy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Policy")
            .field("header", &self.header)
            .field("checksum", &self.checksum)
            .finish_non_exhaustive()
    }
}

impl Policy {
    /// The policy of a file with these contents. The path is for error messages.
    ///
    /// # Errors
    /// [`PolicyError`] if the contents are invalid.
    pub(crate) fn of_file(path: &str, bytes: &[u8]) -> Result<Policy, PolicyError> {
        Policy::from_bytes(bytes)
            .map_err(|source| PolicyError::Refused { path: path.to_owned(), source })
    }

    /// The policy of a file with these contents.
    ///
    /// # Errors
    /// [`PolicyProblem`] if the contents are invalid, or if the instruction set that the environment names is not
    /// possible.
    pub fn from_bytes(bytes: &[u8]) -> Result<Policy, PolicyProblem> {
        let no_header = || {
            let text = "its metadata has no key \"starmine\": expected the JSON header of a policy";
            PolicyProblem::new(text)
        };
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(PolicyProblem::damaged)?;
        let texts = metadata.metadata().as_ref();
        let text = texts.and_then(|texts| texts.get(KEY)).ok_or_else(no_header)?;
        let header = Header::read(text)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(PolicyProblem::damaged)?;
        Ok(Policy {
            network: read_network(&header, &tensors)?,
            simd: InstructionSet::chosen()?,
            encoder: header.encoder,
            variant: header.variant,
            header: text.clone(),
            bytes: bytes.into(),
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
    pub const fn encoder(&self) -> Encoder {
        self.encoder
    }

    /// The JSON header of its file.
    #[must_use]
    pub fn header(&self) -> &str {
        &self.header
    }

    /// The contents of its file.
    #[must_use]
    pub const fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The CRC-32 of its file.
    #[must_use]
    pub const fn checksum(&self) -> u32 {
        self.checksum
    }

    /// Number of bits of an observation.
    #[must_use]
    pub(crate) const fn num_bits(&self) -> usize {
        self.network.features.bits()
    }

    /// Number of outputs of an observation: the logits of all actions, and the value.
    #[must_use]
    pub(crate) fn num_outputs(&self) -> usize {
        self.variant.num_actions() + 1
    }

    /// A forward pass of one or more observations: for each the logits of all actions, then the
    /// value, which are [`Policy::num_outputs`] numbers. The observations are packed with the first
    /// bit lowest and zero padding, each in whole words.
    ///
    /// # Panics
    /// If an observation has the wrong size.
    pub(crate) fn logits<'a>(&self, words: &[u64], scratch: &'a mut PolicyScratch) -> &'a [f32] {
        assert_eq!(words.len() % self.num_bits().div_ceil(64), 0, "words of an observation");
        self.network.apply(self.simd, words, scratch)
    }

    /// A number of observations that pass together at the highest speed.
    pub const BATCH_SIZE: usize = 32;

    /// The logits and the values of many views, in their order.
    ///
    /// # Errors
    /// [`UnsupportedVariantError`] for views of a variant that the policy does not play.
    pub fn evaluate<'v>(
        &self,
        views: impl IntoIterator<Item = View<'v>>,
        scratch: &mut PolicyScratch,
    ) -> Result<PolicyOutputs, UnsupportedVariantError> {
        let views: Vec<View<'v>> = views.into_iter().collect();
        let mut checked: Option<&Variant> = None;
        for variant in views.iter().map(View::variant) {
            // Most views share one variant.
            if !checked.is_some_and(|checked| std::ptr::eq(checked, variant)) {
                self.check_variant(variant)?;
                checked = Some(variant);
            }
        }
        let width = self.num_bits().div_ceil(64);
        let mut rows = Vec::with_capacity(views.len() * self.num_outputs());
        let mut observations = std::mem::take(&mut scratch.observations);
        for views in views.chunks(Policy::BATCH_SIZE) {
            observations.resize(views.len() * width, 0);
            for (words, view) in observations.chunks_exact_mut(width).zip(views) {
                self.encoder.encode_view(view, words);
            }
            rows.extend_from_slice(self.logits(&observations, scratch));
        }
        scratch.observations = observations;
        Ok(PolicyOutputs { legal: views.iter().map(View::legal_actions).collect(), rows })
    }

    /// Checks that the policy plays this variant, which may differ from its own in
    /// `random_start_player`, `lost_game_score` and `edition` alone.
    ///
    /// # Errors
    /// [`UnsupportedVariantError`] for another variant.
    pub fn check_variant(&self, variant: &Variant) -> Result<(), UnsupportedVariantError> {
        let differences = differences(&self.variant, variant);
        if differences.is_empty() {
            return Ok(());
        }
        let differences = differences.join(", ");
        let preset = PRESETS.iter().find(|preset| is_preset(&self.variant, preset));
        let name = preset.map(|preset| format!(" (variant={:?})", preset.name)).unwrap_or_default();
        let expected =
            format!("the variant that the policy was trained for, in which {differences}{name}");
        Err(UnsupportedVariantError::new("policy", variant, expected))
    }
}

/// Whether a variant is a preset, with any number of players, up to what does not matter to a policy.
fn is_preset(variant: &Variant, preset: &Preset) -> bool {
    let parameters = Parameters { players: variant.players().into(), ..preset.parameters() };
    Variant::new(parameters).is_ok_and(|preset| preset.plays_alike(variant))
}

/// The parameters that matter to a policy and differ, as `name=value` of the first variant.
fn differences(own: &Variant, given: &Variant) -> Vec<String> {
    if own.plays_alike(given) {
        return Vec::new();
    }
    let (own, given) = (own.played_parameters(), given.played_parameters());
    let fields = |parameters| serde_json::to_value(parameters).expect("plain data becomes JSON");
    let (own, given) = (fields(own), fields(given));
    let own = own.as_object().into_iter().flatten();
    own.filter(|(name, value)| given.get(name) != Some(value))
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}
