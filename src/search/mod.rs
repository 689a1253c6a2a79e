//! Search: a seat that looks for better moves than a blueprint, which its teammates follow.
//!
//! Start with [`Searcher`], a [`Bot`](crate::bots::Bot). It keeps a [`BlueprintBelief`] about its own hand, and in its turn
//! plays the game to the end many times for each legal move, see [`Searcher::decide`].

mod belief;
mod blueprint;
mod budget;
mod candidate;
mod decision;
mod options;
mod parallel;
mod particle;
mod player_name;
mod rollout;
mod search_text;
mod searcher;
mod seen_game;
mod stored_players;
#[cfg(test)]
mod tests;
mod turn_set;

pub use belief::{BlueprintBelief, Source};
pub use candidate::ActionValue;
pub use decision::Decision;
pub use options::{Method, NumberRange, SearchOptions};
pub use player_name::{PlayerName, PlayerNameError, SearchName};
pub use search_text::{SearchText, SeveralSearches};
pub use searcher::{BlueprintError, Searcher};
pub use stored_players::{LoadedPolicies, StoredPolicies};
