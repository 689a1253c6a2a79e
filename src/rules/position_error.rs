use thiserror::Error;

/// A position that no game of the variant can reach.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not a position of this variant: {0}")]
pub struct PositionError(pub &'static str);
