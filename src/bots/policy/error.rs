use thiserror::Error;

use super::header::{FORMAT, MAX_LAYERS, MAX_WIDTH};
use super::read::MAX_BYTES;
use crate::rules::{UnknownName, VariantError};

/// A policy that cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PolicyError {
    /// There is no such file, or it cannot be read.
    #[error(
        "policy={path:?} cannot be read ({problem}): expected the path of a policy's file{}",
        known_policies(known)
    )]
    Unreadable {
        /// The path that was given.
        path: String,
        /// What the system says.
        problem: String,
        /// The names of the policies that are shipped.
        known: String,
    },
    /// The file does not hold a policy that can be played.
    #[error("policy={path:?} is not one that can be played: {problem}")]
    Refused {
        /// The file's path or name.
        path: String,
        /// What is wrong with it.
        problem: PolicyProblem,
    },
}

fn known_policies(known: &str) -> String {
    if known.is_empty() { String::new() } else { format!(", or one of {known}") }
}

/// What is wrong with a policy's file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PolicyProblem {
    /// Too much to be one.
    #[error("it has {bytes} bytes: expected at most {MAX_BYTES}")]
    TooLarge {
        /// How many it has.
        bytes: u64,
    },
    /// Another kind of file, or one that was cut or garbled.
    #[error("it is not a safetensors file, or a damaged one ({0})")]
    NotSafetensors(String),
    /// A safetensors file of somebody else.
    #[error("its metadata has no key \"starmine\": expected the JSON text of what it plays")]
    NoHeader,
    /// The JSON text does not say what it should.
    #[error("\"starmine\" in its metadata: {0}")]
    Header(String),
    /// Written for another version.
    #[error("\"starmine\" in its metadata: format={found}: expected {FORMAT}")]
    Format {
        /// Its format.
        found: String,
    },
    /// A variant that cannot be.
    #[error("\"starmine\" in its metadata: variant: {0}")]
    Variant(#[from] VariantError),
    /// An encoder that is not in the registry.
    #[error("\"starmine\" in its metadata: {0}")]
    Encoder(#[from] UnknownName),
    /// An encoder that shows what a player does not see.
    #[error(
        "\"starmine\" in its metadata: encoder={encoder:?} shows the own hand: expected one that shows what a seat may see"
    )]
    Cheats {
        /// The encoder.
        encoder: &'static str,
    },
    /// Too many hidden layers, none, or one too wide.
    #[error(
        "\"starmine\" in its metadata: hidden={hidden:?}: expected 1 to {MAX_LAYERS} widths of 1 to {MAX_WIDTH}"
    )]
    Hidden {
        /// The widths.
        hidden: Vec<usize>,
    },
    /// Card features are not defined for observations without these sections.
    #[error(
        "\"starmine\" in its metadata: card_features=true: encoder={encoder:?} does not have the sections that they are made of"
    )]
    CardFeatures {
        /// The encoder.
        encoder: &'static str,
    },
    /// A tensor is not there.
    #[error("tensor {name:?} is missing: expected shape {expected:?}")]
    Missing {
        /// Its name.
        name: String,
        /// Its shape.
        expected: Vec<usize>,
    },
    /// A tensor that such a network does not have.
    #[error("tensor {name:?} is not one of this network's: expected {expected}")]
    Unexpected {
        /// Its name.
        name: String,
        /// The names that there should be.
        expected: String,
    },
    /// A tensor of another shape.
    #[error("tensor {name:?} has shape {found:?}: expected {expected:?}")]
    Shape {
        /// Its name.
        name: String,
        /// Its shape.
        found: Vec<usize>,
        /// What it should be.
        expected: Vec<usize>,
    },
    /// Numbers of another kind.
    #[error("tensor {name:?} has dtype {found}: expected F32, F16 or BF16")]
    Dtype {
        /// Its name.
        name: String,
        /// Its dtype.
        found: String,
    },
    /// A number that is none.
    #[error("tensor {name:?} has {found} at index {index}: expected finite numbers")]
    NotFinite {
        /// Its name.
        name: String,
        /// Where, counted through all rows.
        index: usize,
        /// What stands there.
        found: String,
    },
}
