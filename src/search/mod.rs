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
//! let searcher = Searcher::new(blueprint, variant.clone(), options)?;
//! let state = State::new(variant, EpisodeSeed::default());
//! let (decision, belief) = searcher.decide(&state, 1)?;
//! println!("the search plays {:?}", decision.chosen);
//! for value in &decision.moves {
//!     println!("{:?}: {} points on average", value.candidate, value.mean);
//! }
//! for (hand, probability) in belief.hands() {
//!     println!("{hand:?} with probability {probability}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A search of your own needs possible games, which
//! [`SeenGame::with_hand`](crate::rules::SeenGame::with_hand) makes of possible hands, and players that
//! go on with them, which [`SeatedPlayer`](crate::bots::SeatedPlayer)s are.

mod belief;
mod blueprint;
mod budget;
mod candidate;
mod decision;
mod error;
mod options;
mod parallel;
mod particle;
mod rollout;
mod searcher;
#[cfg(test)]
mod tests;

pub use belief::BlueprintBelief;
pub use decision::Decision;
pub use error::SearchError;
pub(crate) use options::MIRROR_STEP;
pub use options::{Method, SearchOptions};
pub use searcher::Searcher;
