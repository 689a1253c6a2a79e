//! The card game Hanabi for reinforcement learning: exact rules, observations as vectors of bits,
//! bots, trained policies, search, and thousands of games in one step.
//!
//! Deals, legal moves, rewards, scores and observations are those of DeepMind's [Hanabi Learning
//! Environment](https://github.com/google-deepmind/hanabi-learning-environment) (HLE). The Python package `starmine` is
//! built on this crate.
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
//! # Bots
//!
//! Every player has a text: the name of a bot ([`bots::BOTS`] lists them) or of a trained policy, or
//! `search: smart`. A [`PlayerSpec`](players::PlayerSpec) is parsed from any of them and makes
//! players. Here two play 100 games:
//!
//! ```
//! # #[cfg(feature = "bots")] {
//! use starmine::bots::{GamesOptions, play_games};
//! use starmine::players::PlayerSpec;
//! use starmine::rules::Variant;
//!
//! let variant = Variant::default();
//! let (smart, holmes): (PlayerSpec, PlayerSpec) = ("smart".parse()?, "holmes".parse()?);
//! let players = [smart.player(&variant)?, holmes.player(&variant)?];
//! let options = GamesOptions { seed: 1, num_threads: 2 };
//! let outcomes = play_games(&variant, &players, 0..100, options)?;
//! let points: u32 = outcomes.iter().map(|outcome| u32::from(outcome.score)).sum();
//! println!("{} points a game", f64::from(points) / 100.0);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A batch
//!
//! A [`Batch`](batch::Batch) steps many games at once, on several threads if asked. It writes into
//! [`Outputs`](batch::Outputs), the buffers of the caller. A game that ends is dealt anew in the same
//! step. This batch of 4,096 games writes packed rows, one bit for each bit of an observation:
//!
//! ```
//! # #[cfg(feature = "bots")] {
//! use starmine::batch::{Batch, Dtype, ObservationBuffer, Options, Outputs};
//! use starmine::buffers::WriteOnly;
//! use starmine::rules::Variant;
//!
//! let variant = Variant::default();
//! let options = Options { dtype: Dtype::Bits, ..Options::default() };
//! let mut batch = Batch::new(variant, 4096, 1, options)?;
//! let (mut rows, mut rewards) = (vec![0; 4096 * batch.row_length()], vec![0.0; 4096]);
//! for _ in 0..10 {
//!     // In each game the first legal action.
//!     let first = |game| batch.legal_actions(game).iter().next().expect("a game goes on");
//!     let actions: Vec<i64> = (0..4096).map(|game| first(game).into()).collect();
//!     let obs = Some(ObservationBuffer::Bits(WriteOnly::new(&mut rows)));
//!     let reward = Some(WriteOnly::new(&mut rewards));
//!     batch.step(&actions, Outputs { obs, reward, ..Outputs::default() })?;
//!     println!("{} points", rewards.iter().sum::<f32>());
//! }
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A bot of your own
//!
//! A [`Bot`](bots::Bot) gets the view of its seat and answers with a move. It must implement
//! [`Clone`]. It plays among the bots of the crate:
//!
//! ```
//! # #[cfg(feature = "bots")] {
//! use starmine::bots::{Bot, GamesOptions, Player, play_games};
//! use starmine::players::PlayerSpec;
//! use starmine::rules::{GameRng, Move, Offset, Slot, Variant, View};
//!
//! /// Plays a card that its hints prove playable, or else discards the oldest card or gives a hint.
//! #[derive(Clone)]
//! struct Careful;
//!
//! impl Bot for Careful {
//!     fn start(&mut self, _view: &View<'_>, _rng: GameRng) {} // it remembers nothing
//!
//!     fn act(&mut self, view: &View<'_>) -> Move {
//!         let playable = view.outlook().playable;
//!         for (slot, known) in Slot::ALL.into_iter().zip(view.hand_knowledge(Offset::OWN)) {
//!             if known.plausible(view.variant()).is_subset(playable) {
//!                 return Move::Play { slot };
//!             }
//!         }
//!         let is_safe = |candidate: &Move| !matches!(candidate, Move::Play { .. });
//!         view.legal_moves().find(is_safe).expect("a discard or a hint is legal")
//!     }
//! }
//!
//! let variant = Variant::default();
//! let smart: PlayerSpec = "smart".parse()?;
//! let players = [Player::bot(Careful), smart.player(&variant)?];
//! let outcomes = play_games(&variant, &players, 0..100, GamesOptions::seeded(1))?;
//! # assert_eq!(outcomes.len(), 100);
//! # }
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
//! Each module uses only those above it in this table. All features in it are on by default; with
//! `default-features = false` the crate is the rules and the encodings alone.
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
// With `python`, all parts of the crate have a caller, and dead code is an error. Smaller builds lack some 50 callers.
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

// The page of the crate on crates.io; its example is tested.
#[cfg(all(doctest, feature = "bots"))]
#[doc = include_str!("README.md")]
struct ReadMe;

// The helpers of the tests name the crate as a dependent does.
#[cfg(test)]
extern crate self as starmine;

#[expect(missing_debug_implementations, reason = "Python shows the classes")]
#[cfg(feature = "python")]
mod bindings;
