//! Why a policy file is refused.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use thiserror::Error;

use super::limits::{FORMATS, MAX_BYTES, MAX_LAYERS, MAX_WIDTH};
use crate::buffers::BufferError;
use crate::rules::{UnknownNameError, UnsupportedVariantError, VariantError};

/// Views that a policy cannot evaluate.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// A view of a variant that the policy does not play.
    #[error(transparent)]
    Variant(#[from] UnsupportedVariantError),
    /// Hidden states of a wrong length.
    #[error(transparent)]
    Buffer(#[from] BufferError),
}

/// A policy cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The file does not exist or cannot be read.
    #[error(
        "policy={path:?} cannot be read ({source}): expected the path of a policy's file, or one of {}",
        shipped_names(shipped)
    )]
    Unreadable {
        /// The path.
        path: String,
        /// The error of the operating system.
        source: Cause,
        /// The names of the shipped policies, and the nearest of them.
        shipped: UnknownNameError,
    },
    /// A shipped policy was stored by a version with other weights.
    #[error(
        "policy {name:?} of this version has other weights than the one that was stored: expected a file with CRC-32 {expected:08x}"
    )]
    OtherVersion {
        /// Its name.
        name: String,
        /// The checksum of the file of the other version.
        expected: u32,
    },
    /// The file is not a valid policy.
    #[error("policy={path:?} is not a valid policy")]
    Refused {
        /// The file's path or name.
        path: String,
        /// The reason.
        source: PolicyProblem,
    },
}

/// The names of the shipped policies. If the text may be a misspelt name, the nearest is suggested.
fn shipped_names(UnknownNameError { name, nearest, known, .. }: &UnknownNameError) -> String {
    let known = known.join(", ");
    let is_path = name.contains(['/', '\\', '.']);
    match nearest {
        Some(nearest) if !is_path => format!("{known} (did you mean {nearest:?}?)"),
        _ => known,
    }
}

/// The error of the operating system or of another crate that was the cause. Two are equal if their
/// texts are.
#[derive(Clone, Debug)]
pub struct Cause(Arc<dyn std::error::Error + Send + Sync>);

impl Cause {
    pub(crate) fn new(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Cause {
        Cause(error.into().into())
    }

    /// The error itself, for instance to find out whether it is a [`std::io::Error`].
    #[must_use]
    pub fn error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        &*self.0
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Cause) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Cause {}

impl Display for Cause {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl std::error::Error for Cause {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

/// The reason why a policy file is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PolicyProblem {
    /// The file is too large.
    #[error("it has {bytes} bytes: expected at most {MAX_BYTES}")]
    TooLarge {
        /// Its size.
        bytes: u64,
    },
    /// The file is of another type, truncated or corrupted.
    #[error("it is not a safetensors file, or a damaged one ({0})")]
    NotSafetensors(#[source] Cause),
    /// A safetensors file without starmine's header.
    #[error("its metadata has no key \"starmine\": expected the JSON header of a policy")]
    NoHeader,
    /// The header is not valid JSON, or a key is missing or has the wrong type.
    #[error("\"starmine\" in its metadata")]
    Header(#[source] Cause),
    /// The header has another version.
    #[error("\"starmine\" in its metadata: format={found}: expected {} or {}", FORMATS[0], FORMATS[1])]
    Format {
        /// The version.
        found: String,
    },
    /// The variant is invalid.
    #[error("\"starmine\" in its metadata: variant")]
    Variant(#[from] VariantError),
    /// The encoder is unknown.
    #[error("\"starmine\" in its metadata")]
    Encoder(#[from] UnknownNameError),
    /// The encoder shows what a player may not see.
    #[error(
        "\"starmine\" in its metadata: encoder={encoder:?} shows the observer's own hand: expected one that shows what a seat may see"
    )]
    Cheats {
        /// The encoder.
        encoder: &'static str,
    },
    /// No hidden layer, too many, or one that is too wide.
    #[error(
        "\"starmine\" in its metadata: hidden={hidden:?}: expected 1 to {MAX_LAYERS} widths of 1 to {MAX_WIDTH}"
    )]
    Hidden {
        /// The widths.
        hidden: Vec<usize>,
    },
    /// The encoder lacks a section that card features need.
    #[error(
        "\"starmine\" in its metadata: card_features=true: encoder={encoder:?} lacks the sections that they need"
    )]
    CardFeatures {
        /// The encoder.
        encoder: &'static str,
    },
    /// A tensor is missing.
    #[error("tensor {name:?} is missing: expected shape {expected:?}")]
    Missing {
        /// Its name.
        name: String,
        /// The expected shape.
        expected: Vec<usize>,
    },
    /// The network has no such tensor.
    #[error("tensor {name:?} is not one of this network's: expected {expected}")]
    Unexpected {
        /// Its name.
        name: String,
        /// The expected names.
        expected: String,
    },
    /// A tensor has the wrong shape.
    #[error("tensor {name:?} has shape {found:?}: expected {expected:?}")]
    Shape {
        /// Its name.
        name: String,
        /// Its shape.
        found: Vec<usize>,
        /// The expected shape.
        expected: Vec<usize>,
    },
    /// A tensor has an unsupported dtype.
    #[error("tensor {name:?} has dtype {found}: expected F32, F16 or BF16")]
    Dtype {
        /// Its name.
        name: String,
        /// Its dtype.
        found: String,
    },
    /// A tensor has a NaN or an infinite element.
    #[error("tensor {name:?} has {found} at index {index}: expected finite numbers")]
    NotFinite {
        /// Its name.
        name: String,
        /// The index in the flattened tensor.
        index: usize,
        /// The element.
        found: String,
    },
    /// Outputs may overflow.
    #[error("the outputs of {layer} may leave the range of float32: expected smaller weights")]
    Overflow {
        /// The layer, as in the names of its tensors.
        layer: String,
    },
}
