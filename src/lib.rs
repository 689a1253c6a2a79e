#![cfg_attr(feature = "bots", doc = include_str!("README.md"))]
//!
//! # One game
//!
//! A [`Variant`](rules::Variant) is the immutable rules, a [`State`](rules::State) is one game in
//! progress, and a [`View`](rules::View) is what one seat sees of it. This random game is the same
//! in every run, since it follows from its seed:
//!
//! ```
//! use starmine::rules::{EpisodeSeed, GameRng, Parameters, Seat, State, Variant};
//!
//! let variant = Variant::new(Parameters { players: 3, ..Parameters::default() })?;
//! let seed = EpisodeSeed::new(7);
//! let mut rng = GameRng::for_seat(seed, Seat::FIRST);
//! let mut state = State::new(variant, seed);
//! while state.ending().is_none() {
//!     let moves: Vec<_> = state.legal_moves().collect();
//!     let chosen = rng.pick(&moves).ok_or("a game in progress has a legal move")?;
//!     state.play(*chosen)?;
//! }
//! println!("{} points after {} turns", state.score(), state.length());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Errors and panics
//!
//! What callers give as data, such as moves, decks, options, files and the buffers of a batch, is
//! checked: a call that is refused returns a typed error and changes nothing. The index of
//! a missing game, seat or turn panics, as in a slice; so does a slice of the wrong length that an
//! encoder writes to.
//!
//! # Modules and features
//!
//! Each module uses only those above it in this table; `nn` also uses the weights. All features in it are on by
//! default.
//!
//! | module | content | feature |
//! |---|---|---|
//! | [`rules`] | the game: variants, states, views, cards, moves, beliefs | |
//! | [`encode`] | observations as bits | |
//! | [`buffers`] | the memory of callers: lengths, instruction sets, packed bits as elements | `bots` |
//! | [`nn`] | networks of trained policies, without PyTorch | `bots` |
//! | [`bots`] | rule-based bots, policies as bots, whole games | `bots` |
//! | [`search`] | players that look for better moves than a bot | `bots` |
//! | [`players`] | players by their text, such as `smart` or `search: smart` | `bots` |
//! | [`batch`] | many games in one step | `bots` |
//! | [`nn::POLICIES`] | the shipped policies, 8 MB of weights | `weights`, which implies `bots` |
//!
//! The feature `python` builds the Python module, and `instructions` a program that measures this
//! crate; other crates need neither.

#![cfg_attr(docsrs, feature(doc_cfg))]
// With `python`, all parts of the crate have a caller, and the linter refuses dead code. Smaller builds lack some 50
// callers.
#![cfg_attr(not(feature = "python"), allow(dead_code, unused_imports))]

#[cfg(feature = "bots")]
pub mod batch;
#[cfg(feature = "bots")]
pub mod bots;
#[cfg(feature = "bots")]
pub mod buffers;
pub mod encode;
#[cfg(feature = "bots")]
pub mod nn;
#[cfg(feature = "bots")]
pub mod players;
mod processor;
pub mod rules;
#[cfg(feature = "bots")]
pub mod search;
#[cfg(feature = "bots")]
mod threads;

// The helpers of the tests name the crate as a dependent does.
#[cfg(test)]
extern crate self as starmine;

#[expect(missing_debug_implementations, reason = "Python shows the classes")]
#[cfg(feature = "python")]
mod bindings;
