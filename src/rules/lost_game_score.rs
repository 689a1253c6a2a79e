//! The score of a lost game.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::names::Named;

/// The score of a lost game.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum LostGameScore {
    /// 0, as in HLE.
    #[default]
    Zero,
    /// The sum of the fireworks, as if the game had ended otherwise.
    Fireworks,
}

impl Named for LostGameScore {
    const KIND: &'static str = "lost_game_score";
}
