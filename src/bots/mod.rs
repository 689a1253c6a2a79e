//! Players, by rules and trained: a [`View`](crate::rules::View) in, a [`Move`](crate::rules::Move)
//! out.
//!
//! A [`Bot`] sits in one seat, is told of every turn that is played, and sees what its seat may
//! see. To add one, write one file with a [`Bot`] and add its line to [`BOTS`].

mod bot;
mod cheater;
mod fireflower;
mod games;
mod holmes;
mod info;
mod information;
mod name;
mod notes;
mod pointing;
mod policy;
mod random;
mod registry;
mod rule_list;
mod simple;
mod smart;
mod table;
mod value;
mod warning;

pub use bot::{Bot, OpenBot, Turn};
pub use games::{Outcome, play_games};
pub use name::{BotName, BotNameError, PolicyName};
pub use policy::{
    POLICIES, Policy, PolicyBot, PolicyError, PolicyProblem, PolicyScratch, ShippedPolicy,
    policy_bytes, shipped_policy,
};
pub use registry::{BOTS, BotKind, Plays, UnknownBot, UnsupportedVariant, bot};
pub use rule_list::{RULES, Rule, RuleError, RuleKind, RuleList, UnknownRule, rule};
pub use table::{BotMoveError, Player, Table};
