//! Players by their text: bots, trained policies, and searches with one of them.
//!
//! A [`PlayerSpec`] is parsed from a text and makes a [`Player`](crate::bots::Player) for a variant:
//!
//! ```
//! use starmine::bots::{GamesOptions, play_games};
//! use starmine::players::PlayerSpec;
//! use starmine::rules::Variant;
//!
//! let variant = Variant::default();
//! let texts = ["smart", "rules: play-safe; hint-playable; discard-oldest"];
//! let specs: Vec<PlayerSpec> = texts.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
//! let players = [specs[0].player(&variant)?, specs[1].player(&variant)?];
//! let outcomes = play_games(&variant, &players, 0..10, GamesOptions::seeded(1))?;
//! println!("{} points in the first game", outcomes[0].score);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod player_spec;
mod policy_source;
mod search_text;
mod stored_players;
#[cfg(test)]
mod tests;
mod text;

pub use error::PlayerSpecError;
pub use player_spec::PlayerSpec;
pub(crate) use search_text::SearchText;
pub(crate) use stored_players::StoredPlayer;
