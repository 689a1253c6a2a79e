//! Bots and policies: their names, players in seats, and whole games.

pub mod bot_kind;
pub mod play_bots;
pub mod player;
pub mod policies;
pub mod rule_kind;
pub mod seated_bot;
