//! The threads of a batch, and how they divide its games.

pub mod partition;
pub mod pool;
