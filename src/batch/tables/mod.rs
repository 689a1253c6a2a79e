//! Games with partners, which the rules engine plays.
//!
//! - [`partners`]: who holds the seats that the learner does not hold
//! - [`partner_game`]: one game with its players

pub mod partner_game;
pub mod partners;
