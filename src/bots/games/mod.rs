//! Games among players.
//!
//! - [`Player`]: who plays in a seat
//! - [`Seats`]: how bots are shown a game; `SeatedPlayer` shows it to the player of one seat
//! - [`GameRunner`]: one game after another, turn by turn
//! - [`advance`]: bots play in many games side by side
//! - [`play_games`]: many games on several threads

pub(super) mod advance;
#[cfg(test)]
pub(crate) mod bot_table;
pub(super) mod play_games;
pub(super) mod player;
pub(super) mod runner;
pub(super) mod seated_player;
pub(crate) mod seats;
pub(super) mod turn_values;
