//! The JSON header of a policy file.

use serde::Deserialize;
use serde_json::Value;

use super::error::PolicyProblem;
use super::limits::{FORMATS, MAX_LAYERS, MAX_WIDTH};
use crate::encode::Encoder;
use crate::nn::CardWeights;
use crate::rules::{Parameters, Variant};

/// The header as JSON. Further keys are ignored.
#[derive(Deserialize)]
struct RawHeader {
    variant: Parameters,
    encoder: String,
    hidden: Vec<usize>,
    recurrent: bool,
    card_features: bool,
    #[serde(default)]
    layer_norm: bool,
    network: Option<String>,
    weights: Option<String>,
}

/// The validated header of a policy file.
pub(super) struct Header {
    pub variant: Variant,
    pub encoder: Encoder,
    /// The widths of the hidden layers, at least one.
    pub hidden: Vec<usize>,
    pub recurrent: bool,
    pub card_features: bool,
    pub layer_norm: bool,
    /// How a network by colour weighs own cards; `None` for a plain network.
    pub by_color: Option<CardWeights>,
}

impl Header {
    pub fn read(text: &str) -> Result<Header, PolicyProblem> {
        let value: Value = serde_json::from_str(text).map_err(PolicyProblem::header)?;
        let format = match value.get("format") {
            Some(found) if found.as_u64().is_some_and(|found| FORMATS.contains(&found)) => {
                found.as_u64()
            }
            found => {
                let found = found.map_or("none".to_owned(), Value::to_string);
                let expected = format!("{} or {}", FORMATS[0], FORMATS[1]);
                return Err(PolicyProblem::key(format!("format={found}: expected {expected}")));
            }
        };
        let raw: RawHeader = serde_json::from_value(value).map_err(PolicyProblem::header)?;
        let encoder: Encoder = raw.encoder.parse()?;
        if encoder.shows_own_hand() {
            return Err(PolicyProblem::key(format!(
                "encoder={:?} shows the observer's own hand: expected one that shows what a seat may see",
                encoder.name()
            )));
        }
        let widths_fit = raw.hidden.iter().all(|width| (1..=MAX_WIDTH).contains(width));
        if !(1..=MAX_LAYERS).contains(&raw.hidden.len()) || !widths_fit {
            return Err(PolicyProblem::key(format!(
                "hidden={:?}: expected 1 to {MAX_LAYERS} widths of 1 to {MAX_WIDTH}",
                raw.hidden
            )));
        }
        let by_color = if format == Some(FORMATS[0]) { None } else { Some(by_color(&raw)?) };
        Ok(Header {
            by_color,
            variant: Variant::new(raw.variant)?,
            encoder,
            hidden: raw.hidden,
            recurrent: raw.recurrent,
            card_features: raw.card_features,
            layer_norm: raw.layer_norm,
        })
    }
}

/// The weights of a network by colour.
fn by_color(raw: &RawHeader) -> Result<CardWeights, PolicyProblem> {
    let refuse = |found: String| PolicyProblem::header(found);
    if raw.network.as_deref() != Some("colors") {
        let found = raw.network.as_deref().unwrap_or("none");
        return Err(refuse(format!("network={found}: expected colors")));
    }
    if raw.hidden.len() != 2 {
        return Err(refuse(format!("hidden={:?}: expected two widths by colour", raw.hidden)));
    }
    if raw.card_features || raw.layer_norm {
        return Err(refuse("card_features, layer_norm: expected false by colour".to_owned()));
    }
    let weights = raw.weights.as_deref().unwrap_or_default();
    weights.parse::<CardWeights>().map_err(PolicyProblem::header)
}
