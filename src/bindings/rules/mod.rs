//! The game: variants, states, views, moves, events and recorded games.

pub mod card;
pub mod event;
pub mod knowledge;
pub mod moves;
pub mod parameters;
pub mod recording;
pub mod seen_game;
pub mod small_numbers;
pub mod state;
pub mod variant;
pub mod view;
