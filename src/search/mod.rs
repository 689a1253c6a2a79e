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
//! go on with them, which [`SeatedPlayer`](crate::bots::SeatedPlayer)s are. This one takes the move with
//! the greatest mean score of five games:
//!
//! ```
//! use starmine::bots::SeatedPlayer;
//! use starmine::players::PlayerSpec;
//! use starmine::rules::{Belief, EpisodeSeed, GameRng, SeenGame, State, Variant};
//!
//! let (variant, mut rng) = (Variant::default(), GameRng::for_samples(1));
//! let smart: PlayerSpec = "smart".parse()?;
//! let state = State::new(variant.clone(), EpisodeSeed::default());
//! let seat = state.current_player();
//! let seen = SeenGame::of(&state, seat);
//! let belief = Belief::new(&seen.view());
//! let mut values = Vec::new();
//! for candidate in state.legal_moves() {
//!     let mut points = 0;
//!     for _ in 0..5 {
//!         let hand = belief.sample(&mut rng).ok_or("the true hand is possible")?;
//!         let mut game = seen.with_hand(hand, &mut rng).ok_or("the hand is possible")?;
//!         game.play(candidate)?;
//!         let mut players = Vec::new();
//!         for seat in variant.seats() {
//!             players.push(SeatedPlayer::new(smart.player(&variant)?, seat, 0));
//!         }
//!         while game.ending().is_none() {
//!             let played = players[game.current_player().index()].act(&game)?;
//!             game.play(played)?;
//!         }
//!         points += u32::from(game.score());
//!     }
//!     values.push((points, candidate));
//! }
//! let best = values.iter().max_by_key(|(points, _)| *points);
//! println!("{best:?}");
//! # assert_eq!(values.len(), state.legal_moves().len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
