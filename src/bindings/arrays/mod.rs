//! numpy arrays as memory, and vectors whose length a caller chooses.

pub mod integers;
pub mod memory;
pub mod room;
