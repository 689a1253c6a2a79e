//! Policy files: the weights of a network with a header, fully validated before use.
//!
//! To ship a policy, add its file and its row in [`POLICIES`].

mod choice;
mod error;
mod header;
mod limits;
mod load;
mod outputs;
mod range;
mod shipped_policies;
mod tensors;
#[cfg(test)]
pub mod tests;

pub use choice::{MoveChoice, best, sample};
pub use error::{Cause, PolicyError, PolicyProblem};
pub use load::load_policy;
pub use load::policy_bytes;
pub use load::read_policy;
pub use outputs::PolicyOutputs;
pub use shipped_policies::{POLICIES, ShippedPolicy, shipped_policy};

use std::fmt;

use safetensors::SafeTensors;

use crate::encode::Encoder;
use crate::nn::any_network::Network;
use crate::nn::scratch::PolicyScratch;
use crate::rules::{
    Edition, LostGameScore, PRESETS, Parameters, Preset, UnsupportedVariantError, Variant, View,
};
use header::Header;
use tensors::read_network;

/// The key of the header in the metadata.
const KEY: &str = "starmine";

/// A trained policy.
///
/// The file is a safetensors file with a JSON header under the key `starmine` of its metadata:
///
/// | key | value |
/// |---|---|
/// | `format` | 1, or 2 for a network by colour |
/// | `variant` | the parameters of the variant |
/// | `encoder` | the name of the encoder of its observations |
/// | `hidden` | the widths of the hidden layers |
/// | `recurrent` | whether a gated recurrent unit follows them |
/// | `card_features` | whether each card adds two computed inputs to the observation |
/// | `layer_norm` | whether each hidden layer is normalised; optional, false by default |
///
/// In format 2 there are besides:
///
/// | key | value |
/// |---|---|
/// | `network` | `colors` |
/// | `weights` | how own cards are weighed: `slots` or `hands`: each slot by itself, or all slots together |
///
/// `hidden` then has the width of a colour's tower and that of the trunk, and there are no card
/// features or normalisation.
///
/// Further keys are ignored. The tensors are `F32`, `F16` or `BF16`. The hidden layers are
/// `trunk.0.weight` of shape (out, in) and `trunk.0.bias`, `trunk.2.weight` and so on. With
/// layer normalisation they have the numbers 0, 3, 6 and so on, and the normalisations 1, 4, 7:
/// `trunk.1.weight` of shape (out) and `trunk.1.bias`. The recurrent unit has
/// `memory.from_input.weight` and `bias`, `memory.from_state.weight` and `bias`. The heads are
/// `heads.weight` of shape (actions + 1, width) and `heads.bias`; their last row is the value.
///
/// The layers of a network by colour, each with `weight` and `bias`, are `color.0`, `color_rest`,
/// `color.1`, `color_pooled`, `rest`, `trunk`, those of the recurrent unit, `heads` (a row for each
/// action without a colour, for each group of actions that differ in their colour alone, and for
/// the value) and `color_heads` (a row for each group).
pub struct Policy {
    pub(super) network: Network,
    pub(super) encoder: Encoder,
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
    /// [`PolicyProblem`] if the contents are invalid.
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

    /// Encodes a view as an observation of the policy.
    pub(crate) fn encode_into(&self, view: &View<'_>, words: &mut [u64]) {
        self.encoder.encode_view(view, words);
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
        self.network.bits()
    }

    /// The width of a seat's hidden state; 0 without recurrence.
    #[must_use]
    pub fn state_width(&self) -> usize {
        self.network.state_width()
    }

    /// Number of outputs of an observation: the logits of all actions, and the value.
    #[must_use]
    pub(crate) fn num_outputs(&self) -> usize {
        self.variant.num_actions() + 1
    }

    /// A forward pass of one or more observations: for each the logits of all actions, then the
    /// value, which are [`Policy::num_outputs`] numbers. The observations are packed with the first
    /// bit lowest and zero padding, each in whole words. The hidden states are those of the seats,
    /// zero before their first turns, and are updated.
    ///
    /// # Panics
    /// If an observation or a hidden state has the wrong size.
    pub(crate) fn logits<'a>(
        &self,
        words: &[u64],
        hidden_states: &mut [f32],
        scratch: &'a mut PolicyScratch,
    ) -> &'a [f32] {
        let row = self.num_bits().div_ceil(64);
        assert_eq!(words.len() % row, 0, "words of an observation");
        let states = words.len() / row * self.state_width();
        assert_eq!(hidden_states.len(), states, "width of a hidden state");
        self.network.apply(words, hidden_states, scratch)
    }

    /// A number of observations that pass together at the highest speed.
    pub const BATCH_SIZE: usize = 32;

    /// Whether the network has a hidden state.
    #[must_use]
    pub fn is_recurrent(&self) -> bool {
        self.state_width() > 0
    }

    /// The logits and the values of many views, in their order.
    ///
    /// `hidden_states` has [`Policy::state_width`] numbers for each view: the hidden state of its
    /// observer after the observer's last turn, or zeros before its first one. It is replaced by the
    /// state after this turn. For a network without recurrence it is empty.
    ///
    /// # Errors
    /// [`UnsupportedVariantError`] for views of a variant that the policy does not play.
    ///
    /// # Panics
    /// If there are more or fewer hidden states.
    pub fn evaluate<'v>(
        &self,
        views: impl IntoIterator<Item = View<'v>>,
        hidden_states: &mut [f32],
        scratch: &mut PolicyScratch,
    ) -> Result<PolicyOutputs, UnsupportedVariantError> {
        let views: Vec<View<'v>> = views.into_iter().collect();
        assert_eq!(hidden_states.len(), views.len() * self.state_width(), "a state for each view");
        let mut checked: Option<&Variant> = None;
        for variant in views.iter().map(View::variant) {
            // Most views share one variant.
            if !checked.is_some_and(|checked| std::ptr::eq(checked, variant)) {
                self.check_variant(variant)?;
                checked = Some(variant);
            }
        }
        let mut rows = vec![0.0; views.len() * self.num_outputs()];
        self.write_outputs(&views, hidden_states, &mut rows, scratch);
        Ok(PolicyOutputs::of_rows(views.iter().map(View::legal_actions).collect(), rows))
    }

    /// Writes [`Policy::num_outputs`] numbers for each view; the variant was checked before.
    pub(crate) fn write_outputs(
        &self,
        views: &[View<'_>],
        hidden_states: &mut [f32],
        rows: &mut [f32],
        scratch: &mut PolicyScratch,
    ) {
        let (words, width) = (self.num_bits().div_ceil(64), self.state_width());
        let mut observations = std::mem::take(&mut scratch.observations);
        observations.resize(Policy::BATCH_SIZE * words, 0);
        let rows = rows.chunks_mut(Policy::BATCH_SIZE * self.num_outputs());
        for ((number, views), rows) in views.chunks(Policy::BATCH_SIZE).enumerate().zip(rows) {
            for (words, view) in observations.chunks_exact_mut(words).zip(views) {
                self.encoder.encode_view(view, words);
            }
            let states = &mut hidden_states[number * Policy::BATCH_SIZE * width..];
            let states = &mut states[..views.len() * width];
            rows.copy_from_slice(self.logits(
                &observations[..views.len() * words],
                states,
                scratch,
            ));
        }
        scratch.observations = observations;
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
    let parameters = Parameters { players: variant.players(), ..preset.parameters() };
    Variant::new(parameters).is_ok_and(|preset| playing(&preset) == playing(variant))
}

/// The parameters that matter to a policy.
fn playing(variant: &Variant) -> Parameters {
    Parameters {
        random_start_player: false,
        lost_game_score: LostGameScore::Zero,
        edition: Edition::Standard,
        ..variant.parameters().clone()
    }
}

/// The parameters that matter to a policy and differ, as `name=value` of the first variant.
fn differences(own: &Variant, given: &Variant) -> Vec<String> {
    if own == given || playing(own) == playing(given) {
        return Vec::new();
    }
    let (own, given) = (playing(own), playing(given));
    let fields = |parameters| serde_json::to_value(parameters).expect("plain data becomes JSON");
    let (own, given) = (fields(own), fields(given));
    let own = own.as_object().into_iter().flatten();
    own.filter(|(name, value)| given.get(name) != Some(value))
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}
