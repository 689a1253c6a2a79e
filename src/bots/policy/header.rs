use serde::Deserialize;
use serde_json::Value;

use super::error::PolicyProblem;
use crate::encode::{self, Encoder};
use crate::rules::{Parameters, Sight, Variant};

/// The version of what a policy's file says about itself.
pub(super) const FORMAT: u64 = 1;
/// Most hidden layers.
pub(super) const MAX_LAYERS: usize = 16;
/// Widest hidden layer.
pub(super) const MAX_WIDTH: usize = 4096;

/// What a policy's file says about itself; keys that are not here belong to others.
#[derive(Deserialize)]
struct Said {
    variant: Parameters,
    encoder: String,
    hidden: Vec<usize>,
    recurrent: bool,
    card_features: bool,
    #[serde(default)]
    layer_norm: bool,
}

/// What a policy plays and how it is built, checked.
pub(super) struct Header {
    pub variant: Variant,
    pub encoder: &'static dyn Encoder,
    /// Widths of the hidden layers, at least one.
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
        let said: Said = serde_json::from_value(value).map_err(refuse)?;
        let encoder = encode::encoder(&said.encoder)?;
        if encoder.sight() != Sight::Seat {
            return Err(PolicyProblem::Cheats { encoder: encoder.name() });
        }
        let widths_fit = said.hidden.iter().all(|width| (1..=MAX_WIDTH).contains(width));
        if !(1..=MAX_LAYERS).contains(&said.hidden.len()) || !widths_fit {
            return Err(PolicyProblem::Hidden { hidden: said.hidden });
        }
        Ok(Header {
            variant: Variant::new(said.variant)?,
            encoder,
            hidden: said.hidden,
            recurrent: said.recurrent,
            card_features: said.card_features,
            layer_norm: said.layer_norm,
        })
    }
}
