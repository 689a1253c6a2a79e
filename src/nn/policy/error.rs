//! Why a policy file is refused.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use thiserror::Error;

use crate::rules::{UnknownNameError, VariantError};

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
#[error("{text}")]
pub struct PolicyProblem {
    text: String,
    source: Option<Cause>,
}

/// Where the header stands.
const HEADER: &str = "\"starmine\" in its metadata";

impl PolicyProblem {
    pub(super) fn new(text: impl Into<String>) -> PolicyProblem {
        PolicyProblem { text: text.into(), source: None }
    }

    /// The file is not in the format, as its reader says.
    pub(super) fn damaged(error: impl std::error::Error + Send + Sync + 'static) -> PolicyProblem {
        let text = format!("it is not a safetensors file, or a damaged one ({error})");
        PolicyProblem { text, source: Some(Cause::new(error)) }
    }

    /// A key of the header has a wrong value.
    pub(super) fn key(text: impl Display) -> PolicyProblem {
        PolicyProblem::new(format!("{HEADER}: {text}"))
    }

    /// The header cannot be read.
    pub(super) fn header(
        error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> PolicyProblem {
        PolicyProblem { text: HEADER.to_owned(), source: Some(Cause::new(error)) }
    }
}

impl From<VariantError> for PolicyProblem {
    fn from(error: VariantError) -> PolicyProblem {
        PolicyProblem { text: format!("{HEADER}: variant"), source: Some(Cause::new(error)) }
    }
}

impl From<UnknownNameError> for PolicyProblem {
    fn from(error: UnknownNameError) -> PolicyProblem {
        PolicyProblem::header(error)
    }
}
