use serde::Deserialize;
use serde_json::Value;

use super::error::PolicyProblem;
use super::limits::{FORMAT, MAX_LAYERS, MAX_WIDTH};
use crate::encode::{self, Encoder};
use crate::rules::{Parameters, Sight, Variant};

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
}

/// The validated header of a policy file.
pub(super) struct Header {
    pub variant: Variant,
    pub encoder: &'static dyn Encoder,
    /// The widths of the hidden layers, at least one.
    pub hidden: Vec<usize>,
    pub recurrent: bool,
    pub card_features: bool,
    pub layer_norm: bool,
}

impl Header {
    pub fn read(text: &str) -> Result<Header, PolicyProblem> {
        let refuse = |error: serde_json::Error| PolicyProblem::Header(error.to_string());
        let value: Value = serde_json::from_str(text).map_err(refuse)?;
        match value.get("format") {
            Some(found) if found.as_u64() == Some(FORMAT) => {}
            found => {
                let found = found.map_or("none".to_owned(), Value::to_string);
                return Err(PolicyProblem::Format { found });
            }
        }
        let raw: RawHeader = serde_json::from_value(value).map_err(refuse)?;
        let encoder = encode::encoder(&raw.encoder)?;
        if encoder.sight() != Sight::Seat {
            return Err(PolicyProblem::Cheats { encoder: encoder.name() });
        }
        let widths_fit = raw.hidden.iter().all(|width| (1..=MAX_WIDTH).contains(width));
        if !(1..=MAX_LAYERS).contains(&raw.hidden.len()) || !widths_fit {
            return Err(PolicyProblem::Hidden { hidden: raw.hidden });
        }
        Ok(Header {
            variant: Variant::new(raw.variant)?,
            encoder,
            hidden: raw.hidden,
            recurrent: raw.recurrent,
            card_features: raw.card_features,
            layer_norm: raw.layer_norm,
        })
    }
}
