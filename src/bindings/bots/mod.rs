//! Bots and policies: their names, players in seats, and tables of games.

pub mod bot_kind;
pub mod player;
pub mod policies;
pub mod rule_kind;
pub mod seated_bot;
pub mod tables;
