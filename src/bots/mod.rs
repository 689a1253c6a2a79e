//! Bots: players by rules and by trained policies, and games among them.
//!
//! A [`Bot`] maps a [`View`](crate::rules::View), which shows what its seat may see, to a
//! [`Move`](crate::rules::Move). [`BOTS`] lists the bots that have a name. [`play_games`] plays many
//! games, and [`GameRunner`] plays one game turn by turn. Who plays:
//!
//! - a [`Player`] holds a seat of a game: a bot, the cheater, or the caller;
//! - a [`PlayerSpec`](crate::players::PlayerSpec) is the text of a player, such as `smart`, and makes
//!   [`Player`]s for a variant;
//! - a [`SeatedPlayer`] is a player in one seat of games whose whole deck is known.
//!
//! A bot also plays at a table that shows it only what its seat sees, by a
//! [`SeenGame`](crate::rules::SeenGame); see the example of [`Bot`].
//!
//! ```
//! use starmine::bots::{GameRunner, Player, RuleList};
//! use starmine::players::PlayerSpec;
//! use starmine::rules::{EpisodeSeed, Variant};
//!
//! let variant = Variant::default();
//! let rules = RuleList::parse(&["play-safe", "hint-playable", "discard-oldest"])?;
//! let smart: PlayerSpec = "smart".parse()?;
//! let players = vec![smart.player(&variant)?, Player::bot(rules)];
//! let mut runner = GameRunner::new(variant, players, EpisodeSeed::default())?;
//! while runner.play_bot()? {
//!     println!("{:?}", runner.history().last());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// To add a bot, write its file, and add a `mod` line here and a row in `BOTS`.
//
// - `bot`: the trait of all bots; `registry`: `BOTS`, one row for each bot that has a name
// - `random`, `smart`, `information`, `cheater`: one bot each
// - `play_hints`: `simple`, `value` and `holmes`, whose hints point out playable cards
// - `rule_list`: bots that are lists of rules, and the six published lists
// - `policy`: a trained policy as a bot; `noisy`: a bot with some of its moves replaced by random ones
// - `common`: what several of them use: sets of cards, counts of copies
// - `games`: who sits where, games among players, and how bots are shown a game

mod bot;
mod cheater;
mod common;
mod games;
mod information;
mod noisy;
mod play_hints;
mod policy;
mod random;
mod registry;
mod rule_list;
mod smart;

pub use bot::{Bot, BoxedClone, MoveValue, Turn};
pub(crate) use games::advance::{AdvanceScratch, advance};
pub(crate) use games::play_games::play_listed_games;
pub use games::play_games::{GamesOptions, PlayedGames, play_games};
pub(crate) use games::player::check_number;
pub use games::player::{BotMoveError, GamesError, Player};
pub use games::runner::{BotTurns, GameRunner, Outcome};
pub use games::seated_player::SeatedPlayer;
pub(crate) use games::seats::{Seats, show_turns};
pub(crate) use games::turn_values::TurnValues;
pub use noisy::{Noise, Noisy};
pub use policy::PolicyBot;
pub(crate) use registry::bot_or_policy;
pub use registry::{BOTS, BotKind, bot};
pub use rule_list::{RULES, Rule, RuleError, RuleKind, RuleList, rule};
