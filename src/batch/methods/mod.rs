//! Methods of [`Batch`](super::Batch) by subject; `step` and `observe` are with it.

mod copies;
mod final_observations;
pub mod given_decks;
mod illegal_actions;
mod readers;
pub mod reset;
mod turns;
pub mod worlds;
