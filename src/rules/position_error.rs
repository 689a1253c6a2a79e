use thiserror::Error;

/// A position that no game of the variant reaches.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[error("not a position of this variant: {field}: {problem}")]
pub struct PositionError {
    /// The part of the position that is wrong.
    pub field: &'static str,
    /// What is wrong with it.
    pub problem: &'static str,
}

/// The error for a field, unless the condition holds.
pub(super) fn require(
    holds: bool,
    field: &'static str,
    problem: &'static str,
) -> Result<(), PositionError> {
    if holds { Ok(()) } else { Err(PositionError { field, problem }) }
}
