//! Why bytes cannot be resumed as a batch.

use thiserror::Error;

use crate::batch::BatchError;
use crate::nn::PolicyError;
use crate::rules::{PositionError, UnknownNameError, VariantError};

/// The number of the stored format. It changes whenever earlier stored batches can no longer be
/// read.
pub(super) const FORMAT: u8 = 8;

/// Why bytes cannot be resumed as a batch.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// They are not a stored batch.
    #[error("these bytes are not a stored batch")]
    NotABatch,
    /// They were stored by a version with another format.
    #[error(
        "the stored batch has format {found}: expected {FORMAT}, written by this version of starmine"
    )]
    Format {
        /// Its format.
        found: u8,
    },
    /// The checksum does not match.
    #[error("the stored batch is damaged: its checksum does not match")]
    Checksum,
    /// A field cannot be parsed.
    #[error("the stored batch is damaged: {field}")]
    Parse {
        /// The field.
        field: &'static str,
        /// The parser's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A field is out of its range.
    #[error("the stored batch is damaged: {field}: {problem}")]
    Field {
        /// The field.
        field: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The variant is not allowed.
    #[error("the stored batch is damaged")]
    Variant(#[from] VariantError),
    /// The encoder is not in the registry.
    #[error(transparent)]
    Encoder(#[from] UnknownNameError),
    /// The policy of a partner cannot be loaded.
    #[error("the stored batch cannot be resumed")]
    Policy(#[from] PolicyError),
    /// The partners are not allowed.
    #[error("the stored batch is damaged")]
    Partners(#[source] BatchError),
    /// The batch cannot be made.
    #[error(transparent)]
    Batch(#[from] BatchError),
}

impl SnapshotError {
    /// The error for a field that is out of its range.
    pub(super) fn field(field: impl Into<String>, problem: &'static str) -> SnapshotError {
        SnapshotError::Field { field: field.into(), problem }
    }

    /// The error for an element of a list of games.
    pub(super) fn game(list: &str, game: usize, error: &PositionError) -> SnapshotError {
        SnapshotError::field(format!("{list}[{game}].{}", error.field), error.problem)
    }
}
