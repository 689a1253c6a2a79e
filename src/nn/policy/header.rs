//! The JSON header of a policy file.

use serde::Deserialize;
use serde_json::Value;

use super::error::PolicyProblem;
use crate::encode::Encoder;
use crate::nn::CardWeights;
use crate::rules::{Parameters, Variant};

/// The version of the header.
const FORMAT: u64 = 2;
/// Maximum width of a hidden layer.
const MAX_WIDTH: usize = 4096;

/// The header as JSON. Further keys are ignored.
#[derive(Deserialize)]
struct RawHeader {
    network: String,
    variant: Parameters,
    encoder: String,
    hidden: Vec<usize>,
    weights: String,
    recurrent: bool,
    #[serde(default)]
    card_features: bool,
    #[serde(default)]
    layer_norm: bool,
}

/// The validated header of a policy file.
pub(super) struct Header {
    pub variant: Variant,
    pub encoder: Encoder,
    /// The width of a colour's tower and the width of the trunk.
    pub hidden: [usize; 2],
    /// How own cards are weighed.
    pub weights: CardWeights,
}

/// What plays the networks that are refused here.
const PLAYED_BY_TORCH: &str = "PyTorch plays this network, in play_games, evaluate and environments; expected a \
    ColorNetwork without recurrence";

impl Header {
    pub fn read(text: &str) -> Result<Header, PolicyProblem> {
        let value: Value = serde_json::from_str(text).map_err(PolicyProblem::header)?;
        match value.get("format") {
            Some(found) if found.as_u64() == Some(FORMAT) => {}
            Some(found) if found.as_u64() == Some(1) => {
                return Err(PolicyProblem::key(format!("format=1: {PLAYED_BY_TORCH}")));
            }
            found => {
                let found = found.map_or("none".to_owned(), Value::to_string);
                return Err(PolicyProblem::key(format!("format={found}: expected {FORMAT}")));
            }
        }
        let raw: RawHeader = serde_json::from_value(value).map_err(PolicyProblem::header)?;
        let encoder: Encoder = raw.encoder.parse()?;
        if encoder.shows_own_hand() {
            return Err(PolicyProblem::key(format!(
                "encoder={:?} shows the observer's own hand: expected one that shows what a seat may see",
                encoder.name()
            )));
        }
        if raw.network != "colors" {
            let problem = format!("network={}: expected colors", raw.network);
            return Err(PolicyProblem::key(problem));
        }
        if raw.recurrent {
            return Err(PolicyProblem::key(format!("recurrent=true: {PLAYED_BY_TORCH}")));
        }
        if raw.card_features || raw.layer_norm {
            let problem = "card_features, layer_norm: expected false by colour";
            return Err(PolicyProblem::key(problem));
        }
        let hidden = <[usize; 2]>::try_from(raw.hidden.as_slice()).ok();
        let hidden =
            hidden.filter(|widths| widths.iter().all(|width| (1..=MAX_WIDTH).contains(width)));
        let Some(hidden) = hidden else {
            return Err(PolicyProblem::key(format!(
                "hidden={:?}: expected two widths of 1 to {MAX_WIDTH}",
                raw.hidden
            )));
        };
        let weights = raw.weights.parse::<CardWeights>().map_err(PolicyProblem::header)?;
        Ok(Header { variant: Variant::new(raw.variant)?, encoder, hidden, weights })
    }
}
