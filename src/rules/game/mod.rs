//! One game in progress, and games that were recorded.

pub(in crate::rules) mod episode_seed;
pub(in crate::rules) mod hand;
pub(in crate::rules) mod position;
pub(in crate::rules) mod random_game;
pub(in crate::rules) mod recorded_game;
pub(in crate::rules) mod recording;
pub(in crate::rules) mod recording_error;
pub(in crate::rules) mod rng;
pub(in crate::rules) mod state;
pub(in crate::rules) mod state_text;
pub(in crate::rules) mod validate;
