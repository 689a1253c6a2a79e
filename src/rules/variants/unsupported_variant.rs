//! The error for a player that does not support a variant.

use thiserror::Error;

use crate::rules::variants::variant::Variant;

/// A bot or a policy does not support the variant.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[error("bot={name:?} does not play this variant ({variant}): expected {expected}")]
pub struct UnsupportedVariantError {
    /// The bot's name.
    pub name: String,
    /// The variant as text.
    pub variant: String,
    /// The variants that it supports.
    pub expected: String,
}

impl UnsupportedVariantError {
    /// The error of the bot with this name for a variant. `expected` describes the variants that the
    /// bot supports.
    pub fn new(name: &str, variant: &Variant, expected: impl Into<String>) -> Self {
        let (name, variant) = (name.to_owned(), variant.to_string());
        UnsupportedVariantError { name, variant, expected: expected.into() }
    }
}
