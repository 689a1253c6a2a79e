//! Bots: players by rules and by trained policies, and games among them.
//!
//! A [`Bot`] maps a [`View`](crate::rules::View), which shows what its seat may see, to a
//! [`Move`](crate::rules::Move). [`play_games`] plays many games, and [`GameRunner`] plays one game
//! turn by turn. Who plays:
//!
//! - a [`Player`] holds a seat of a game: a bot, the cheater, or the caller;
//! - a [`PlayerSpec`](crate::players::PlayerSpec) says who may hold a seat, for instance by the text
//!   `smart`, and makes players; partners of a batch are such;
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
// - `random`, `rule_list`, `play_hints`, `smart`, `hat_guessing`, `fireflower`, `cheater`: the bots
//   and their families
// - `policy`: trained policies as bots; `noisy`: any bot with random moves in between
// - `base_game`, `copy_counts`: sets of cards and counts of copies that several families use
// - `registry`: bots by their names
// - `runner`, `seated_player`, `play_games`, `turn_values`: games

mod base_game;
mod bot;
mod cheater;
mod copy_counts;
mod fireflower;
mod first_best;
mod hat_guessing;
mod noisy;
mod play_games;
mod play_hints;
mod policy;
mod random;
mod registry;
mod rule_list;
mod runner;
mod seated_player;
mod smart;
#[cfg(test)]
mod table;
mod turn_values;

pub use bot::{Bot, BoxedClone, MoveValue, Turn};
pub use noisy::{Noise, Noisy};
pub(crate) use play_games::play_listed_games;
pub use play_games::{GamesOptions, PlayedGames, play_games, record_games};
pub use policy::PolicyBot;
pub(crate) use policy::{PolicyTurns, run_together};
pub(crate) use registry::bot_or_policy;
pub use registry::{BOTS, BotKind, SupportedVariants, bot};
pub use rule_list::{RULES, Rule, RuleError, RuleKind, RuleList, rule};
pub(crate) use runner::check_number;
pub use runner::{BotMoveError, GameRunner, GamesError, Outcome, Player};
pub use seated_player::SeatedPlayer;
pub(crate) use turn_values::TurnValues;
