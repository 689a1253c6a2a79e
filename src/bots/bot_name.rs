use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use thiserror::Error;

use super::bot::UnsupportedVariant;
use super::policy::{Policy, PolicyBot, PolicyError, ShippedPolicy, read_policy, shipped_policy};
use super::registry::{BotKind, bot};
use super::rule_list::{RuleError, RuleList};
use super::runner::Player;
use crate::rules::{UnknownName, Variant};

/// Prefix of a rule list's text.
const RULES_PREFIX: &str = "rules:";
/// Prefix of a policy's text. A shipped policy may also stand without it.
const POLICY_PREFIX: &str = "policy:";
/// Suffix, after a semicolon, of a policy that samples its moves.
const SAMPLED: &str = "sampled";

/// A bot parsed from its text, which is one of:
/// - the name of a bot of the registry or of a shipped policy;
/// - a rule list, such as `rules: play-safe; hint-playable; discard-oldest`;
/// - a policy file, such as `policy: runs/mine.safetensors` or
///   `policy: runs/mine.safetensors; sampled`.
///
/// ```
/// use starmine::bots::BotName;
/// use starmine::rules::{Parameters, Variant};
///
/// let name: BotName = "rules: play-safe; hint-playable; discard-oldest".parse()?;
/// assert!(name.player(&Variant::new(Parameters::default())?).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub enum BotName {
    /// A bot of the registry.
    Kind(&'static BotKind),
    /// A rule list.
    Rules(RuleList),
    /// A trained policy.
    Policy(PolicyName),
}

/// A text that names no bot.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BotNameError {
    /// No bot has this name.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// One of the rules cannot be parsed.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The policy cannot be loaded.
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

/// A loaded policy and whether it samples its moves.
#[derive(Clone)]
pub struct PolicyName {
    /// The path of its file, or its name if it is shipped.
    source: String,
    policy: Arc<Policy>,
    is_sampled: bool,
}

impl BotName {
    /// A new player for this variant.
    ///
    /// # Errors
    /// [`UnsupportedVariant`] if the bot does not support the variant.
    pub fn player(&self, variant: &Variant) -> Result<Player, UnsupportedVariant> {
        match self {
            BotName::Kind(kind) => kind.player(variant),
            BotName::Rules(list) => Ok(Player::Bot(Box::new(list.clone()))),
            BotName::Policy(name) => {
                let PolicyName { policy, is_sampled, .. } = name;
                let text = name.to_string();
                let bot = PolicyBot::new(policy.clone(), *is_sampled, &text, variant)?;
                Ok(Player::Bot(Box::new(bot)))
            }
        }
    }

    /// The CRC-32 of the policy's file; `None` for other bots.
    #[must_use]
    pub fn checksum(&self) -> Option<u32> {
        match self {
            BotName::Kind(_) | BotName::Rules(_) => None,
            BotName::Policy(name) => Some(name.policy.checksum()),
        }
    }
}

impl PolicyName {
    fn shipped(shipped: &ShippedPolicy, is_sampled: bool) -> Result<PolicyName, PolicyError> {
        let (source, policy) = (shipped.name.to_owned(), shipped.policy()?);
        Ok(PolicyName { source, policy, is_sampled })
    }

    /// Parses the text after the prefix.
    fn parse(text: &str) -> Result<PolicyName, PolicyError> {
        let (source, is_sampled) = match text.rsplit_once(';') {
            Some((source, option)) if option.trim() == SAMPLED => (source.trim(), true),
            _ => (text.trim(), false),
        };
        match shipped_policy(source) {
            Some(shipped) => PolicyName::shipped(shipped, is_sampled),
            None => {
                let policy = read_policy(source)?;
                Ok(PolicyName { source: source.to_owned(), policy, is_sampled })
            }
        }
    }
}

impl FromStr for BotName {
    type Err = BotNameError;

    fn from_str(text: &str) -> Result<BotName, BotNameError> {
        if let Some(rules) = text.strip_prefix(RULES_PREFIX) {
            let rules: Vec<&str> = rules.split(';').map(str::trim).collect();
            return Ok(BotName::Rules(RuleList::parse(&rules)?));
        }
        if let Some(policy) = text.strip_prefix(POLICY_PREFIX) {
            return Ok(BotName::Policy(PolicyName::parse(policy)?));
        }
        match shipped_policy(text) {
            Some(shipped) => Ok(BotName::Policy(PolicyName::shipped(shipped, false)?)),
            None => Ok(BotName::Kind(bot(text)?)),
        }
    }
}

impl fmt::Display for BotName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BotName::Kind(kind) => formatter.write_str(kind.name),
            BotName::Rules(list) => {
                formatter.write_str(RULES_PREFIX)?;
                for (index, rule) in list.rules().iter().enumerate() {
                    write!(formatter, "{}{rule}", if index == 0 { " " } else { "; " })?;
                }
                Ok(())
            }
            BotName::Policy(name) => name.fmt(formatter),
        }
    }
}

impl fmt::Display for PolicyName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PolicyName { source, is_sampled, .. } = self;
        match (shipped_policy(source), is_sampled) {
            (Some(_), false) => formatter.write_str(source),
            (_, false) => write!(formatter, "{POLICY_PREFIX} {source}"),
            (_, true) => write!(formatter, "{POLICY_PREFIX} {source}; {SAMPLED}"),
        }
    }
}

impl fmt::Debug for PolicyName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PolicyName({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_displayed_as_they_are_parsed() {
        for text in ["smart", "rules: play-safe; play-probably-safe 0.6 if life_tokens > 1"] {
            assert_eq!(text.parse::<BotName>().unwrap().to_string(), text);
        }
        assert!(matches!("smrat".parse::<BotName>(), Err(BotNameError::Unknown(_))));
        assert!(matches!("rules: play-saef".parse::<BotName>(), Err(BotNameError::Rule(_))));
        assert!(matches!("rules:".parse::<BotName>(), Err(BotNameError::Rule(_))));
        assert!(matches!("policy:".parse::<BotName>(), Err(BotNameError::Policy(_))));
    }
}
