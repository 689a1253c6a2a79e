//! Search: a seat that looks for better moves than a blueprint, which its teammates follow.
//!
//! Start with [`Searcher`], a [`Bot`](crate::bots::Bot). It keeps a [`BlueprintBelief`] about its
//! own hand, and in its turn plays the game to the end many times for each legal move, see
//! [`Searcher::decide`].
//!
//! ```
//! use starmine::players::PlayerSpec;
//! use starmine::rules::{EpisodeSeed, State, Variant};
//! use starmine::search::{SearchOptions, Searcher};
//!
//! let variant = Variant::default();
//! let blueprint = "smart".parse::<PlayerSpec>()?.bot(&variant)?;
//! let options = SearchOptions { rollouts: 50, hands: 10, ..SearchOptions::default() };
//! let searcher = Searcher::new(blueprint, &variant, options)?;
//! let state = State::new(variant, EpisodeSeed::default());
//! let decision = searcher.decide(&state, 1)?;
//! println!("the best move is {:?}", decision.chosen);
//! for searched in &decision.moves {
//!     println!("{:?}: {} points on average", searched.value.candidate, searched.value.mean);
//! }
//! for (hand, probability) in decision.belief.hands() {
//!     println!("{hand:?} with probability {probability}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod belief;
mod blueprint;
mod budget;
mod candidate;
mod decision;
mod options;
mod parallel;
mod particle;
mod rollout;
mod searcher;
mod supposed_game;
#[cfg(test)]
mod tests;
mod turn_set;

pub use belief::{BlueprintBelief, Source};
pub use candidate::SearchedMove;
pub use decision::Decision;
pub(crate) use options::{CountOption, MIRROR_STEP};
pub use options::{Method, SearchOptionError, SearchOptions};
pub use searcher::{BlueprintError, SearchError, Searcher};
