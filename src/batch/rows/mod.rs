//! The rows of observations, action masks and extra outputs. `buffers::expand` makes elements of packed bits.

pub mod features;
pub mod packed_rows;
pub mod write;
