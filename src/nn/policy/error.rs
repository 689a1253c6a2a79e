//! Why a policy file is refused.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use thiserror::Error;

use crate::buffers::InstructionSetError;
use crate::rules::{UnknownNameError, VariantError, error_text};

/// A policy cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The file does not exist or cannot be read.
    #[error(
        "policy={path:?}: expected the path of a policy's file, or one of {}",
        shipped_names(shipped)
    )]
    Unreadable {
        /// The path.
        path: String,
        /// The error of the operating system.
        source: PolicyProblem,
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
    /// The file is not a valid policy, or this processor cannot run it as asked.
    #[error("policy={path:?} cannot be used")]
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

/// What is wrong with a policy file. Two problems are equal if their texts are.
#[derive(Clone, Debug)]
pub struct PolicyProblem(Arc<Problem>);

#[derive(Debug)]
struct Problem {
    text: String,
    /// The error of the operating system or of another crate, for instance a [`std::io::Error`].
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Display for PolicyProblem {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.text)
    }
}

impl std::error::Error for PolicyProblem {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|error| error as &(dyn std::error::Error + 'static))
    }
}

impl PartialEq for PolicyProblem {
    fn eq(&self, other: &PolicyProblem) -> bool {
        error_text(self) == error_text(other)
    }
}

impl Eq for PolicyProblem {}

/// Where the header stands.
const HEADER: &str = "\"starmine\" in its metadata";

impl PolicyProblem {
    pub(crate) fn new(text: impl Into<String>) -> PolicyProblem {
        PolicyProblem(Arc::new(Problem { text: text.into(), source: None }))
    }

    fn caused_by(
        text: impl Into<String>,
        error: impl std::error::Error + Send + Sync + 'static,
    ) -> PolicyProblem {
        let source = Some(Box::new(error) as Box<_>);
        PolicyProblem(Arc::new(Problem { text: text.into(), source }))
    }

    /// The operating system does not read the file.
    pub(super) fn unreadable(error: std::io::Error) -> PolicyProblem {
        PolicyProblem::caused_by("it cannot be read", error)
    }

    /// The file is not in the format, as its reader says.
    pub(super) fn damaged(error: impl std::error::Error + Send + Sync + 'static) -> PolicyProblem {
        PolicyProblem::caused_by("it is not a safetensors file, or a damaged one", error)
    }

    /// A key of the header has a wrong value.
    pub(super) fn key(text: impl Display) -> PolicyProblem {
        PolicyProblem::new(format!("{HEADER}: {text}"))
    }

    /// The header cannot be read.
    pub(super) fn header(error: impl std::error::Error + Send + Sync + 'static) -> PolicyProblem {
        PolicyProblem::caused_by(HEADER, error)
    }
}

impl From<InstructionSetError> for PolicyProblem {
    fn from(error: InstructionSetError) -> PolicyProblem {
        PolicyProblem::caused_by("there is no instruction set to run it", error)
    }
}

impl From<VariantError> for PolicyProblem {
    fn from(error: VariantError) -> PolicyProblem {
        PolicyProblem::caused_by(format!("{HEADER}: variant"), error)
    }
}

impl From<UnknownNameError> for PolicyProblem {
    fn from(error: UnknownNameError) -> PolicyProblem {
        PolicyProblem::header(error)
    }
}
