//! Limits of policy files.

/// The supported versions of the header: the second one has networks by colour.
pub(super) const FORMATS: [u64; 2] = [1, 2];
/// Maximum number of hidden layers.
pub(super) const MAX_LAYERS: usize = 16;
/// Maximum width of a hidden layer.
pub(super) const MAX_WIDTH: usize = 4096;
/// Maximum size of a policy file, so that a wrong path does not exhaust the memory.
pub(super) const MAX_BYTES: u64 = 1 << 28;
