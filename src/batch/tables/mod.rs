//! Games with partners, which the rules engine plays.
//!
//! - [`partners`]: who holds the seats that the learner does not hold
//! - [`table`]: one game with its players

pub mod partners;
pub mod table;
