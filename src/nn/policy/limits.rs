//! Limits of policy files.

/// The version of the header.
pub(super) const FORMAT: u64 = 2;
/// Maximum width of a hidden layer.
pub(super) const MAX_WIDTH: usize = 4096;
/// Maximum size of a policy file, so that a wrong path does not exhaust the memory.
pub(super) const MAX_BYTES: u64 = 1 << 28;
