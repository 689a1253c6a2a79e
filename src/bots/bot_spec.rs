//! Bots as they are specified by a text, such as `smart` or `noisy: 0.1; smart`.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use thiserror::Error;

use super::bot::{Bot, UnsupportedVariantError};
use super::noisy::{Noise, NoiseError, Noisy};
use super::policy::PolicyBot;
use super::registry::{BotKind, bot};
use super::rule_list::{RuleError, RuleList};
use super::runner::Player;
use crate::nn::{Policy, PolicyError, read_policy, shipped_policy};
use crate::rules::{UnknownNameError, Variant};

/// Prefix of a rule list's text.
const RULES_PREFIX: &str = "rules:";
/// Prefix of a policy's text. A shipped policy may also stand without it.
const POLICY_PREFIX: &str = "policy:";
/// Prefix of a bot with noise; its probability and the bot follow.
const NOISY_PREFIX: &str = "noisy:";
/// Suffix, after a semicolon, of a policy that samples its moves.
const SAMPLED: &str = "sampled";

/// A bot with all its parameters and weights, parsed from its text, which is one of:
/// - the name of a bot of the registry or of a shipped policy;
/// - a rule list, such as `rules: play-safe; hint-playable; discard-oldest`;
/// - a policy file, such as `policy: runs/mine.safetensors` or `policy: runs/mine.safetensors;
///   sampled`. A path that begins or ends with a space or contains a semicolon is written as a JSON
///   string, with `\\u003b` for the semicolon;
/// - one of these with noise, such as `noisy: 0.1; smart`: with probability 0.1 a random legal move
///   replaces the bot's.
///
/// ```
/// use starmine::bots::BotSpec;
/// use starmine::rules::{Parameters, Variant};
///
/// let bot: BotSpec = "rules: play-safe; hint-playable; discard-oldest".parse()?;
/// assert!(bot.player(&Variant::new(Parameters::default())?).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub enum BotSpec {
    /// A bot of the registry.
    Kind(&'static BotKind),
    /// A rule list.
    Rules(RuleList),
    /// A trained policy.
    Policy(PolicySpec),
    /// A bot whose moves are replaced by random ones with some probability.
    Noisy(Noise, Box<BotSpec>),
}

/// A text that specifies no bot.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BotSpecError {
    /// No bot has this name.
    #[error(transparent)]
    Unknown(#[from] UnknownNameError),
    /// One of the rules cannot be parsed.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The policy cannot be loaded.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The noise is not a probability.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// Noise without a bot, or with one that has noise.
    #[error(
        "bot={0:?} is not allowed: expected a probability and a bot without noise, such as \"noisy: 0.1; smart\""
    )]
    NoisyText(String),
}

/// A loaded policy and whether it samples its moves. It plays these weights, whatever its file
/// holds later.
#[derive(Clone)]
pub struct PolicySpec {
    /// The path of its file, or its name if it is shipped.
    source: String,
    policy: Arc<Policy>,
    is_sampled: bool,
}

/// Finds a policy by what stands for it in a text: its path or name, and its weights.
pub type FindPolicy<'a> = dyn Fn(&str) -> Result<(String, Arc<Policy>), PolicyError> + 'a;

impl BotSpec {
    /// A new player for this variant.
    ///
    /// # Errors
    /// [`UnsupportedVariantError`] if the bot does not support the variant.
    pub fn player(&self, variant: &Variant) -> Result<Player, UnsupportedVariantError> {
        match self {
            BotSpec::Kind(kind) => kind.player(variant),
            BotSpec::Rules(list) => Ok(Player::Bot(Box::new(list.clone()))),
            BotSpec::Policy(spec) => {
                let PolicySpec { policy, is_sampled, .. } = spec;
                let named = |error| UnsupportedVariantError { name: spec.to_string(), ..error };
                let bot = PolicyBot::new(policy.clone(), *is_sampled, variant).map_err(named)?;
                Ok(Player::Bot(Box::new(bot)))
            }
            BotSpec::Noisy(noise, spec) => match spec.player(variant)? {
                Player::Bot(bot) => Ok(Player::Bot(Box::new(Noisy::new(bot, *noise)))),
                Player::Cheater | Player::External => Err(UnsupportedVariantError {
                    name: self.to_string(),
                    variant: variant.to_string(),
                    expected: "noise for a bot that sees no more than its seat".to_owned(),
                }),
            },
        }
    }

    /// Whether the bot sees all hands.
    #[must_use]
    pub fn cheats(&self) -> bool {
        matches!(self, BotSpec::Kind(kind) if kind.cheats())
    }

    /// Whether the moves depend on the game alone.
    #[must_use]
    pub fn is_deterministic(&self) -> bool {
        match self {
            BotSpec::Kind(kind) => kind.is_deterministic(),
            BotSpec::Rules(list) => list.is_deterministic(),
            BotSpec::Policy(spec) => !spec.is_sampled,
            BotSpec::Noisy(..) => false,
        }
    }

    /// Whether it is a policy whose network values positions by themselves, see [`Policy::values`].
    #[must_use]
    pub fn has_values(&self) -> bool {
        matches!(self, BotSpec::Policy(spec) if !spec.policy.is_recurrent())
    }

    /// The policy, also one with noise; `None` for other bots.
    #[must_use]
    pub fn policy(&self) -> Option<&PolicySpec> {
        match self {
            BotSpec::Kind(_) | BotSpec::Rules(_) => None,
            BotSpec::Policy(spec) => Some(spec),
            BotSpec::Noisy(_, spec) => spec.policy(),
        }
    }

    /// The same bot, with another text for its policy.
    pub(crate) fn with_source(&self, source: &str) -> BotSpec {
        match self {
            BotSpec::Kind(_) | BotSpec::Rules(_) => self.clone(),
            BotSpec::Policy(spec) => {
                BotSpec::Policy(PolicySpec { source: source.to_owned(), ..spec.clone() })
            }
            BotSpec::Noisy(noise, spec) => {
                BotSpec::Noisy(*noise, Box::new(spec.with_source(source)))
            }
        }
    }

    /// Parses a text; `find` finds its policy.
    ///
    /// # Errors
    /// [`BotSpecError`] if the text specifies no bot.
    pub(crate) fn parse(text: &str, find: &FindPolicy<'_>) -> Result<BotSpec, BotSpecError> {
        if let Some(rules) = text.strip_prefix(RULES_PREFIX) {
            let rules: Vec<&str> = rules.split(';').map(str::trim).collect();
            return Ok(BotSpec::Rules(RuleList::parse(&rules)?));
        }
        if let Some(policy) = text.strip_prefix(POLICY_PREFIX) {
            return Ok(BotSpec::Policy(PolicySpec::parse(policy, find)?));
        }
        if let Some(noisy) = text.strip_prefix(NOISY_PREFIX) {
            let wrong = || BotSpecError::NoisyText(text.to_owned());
            let (noise, bot) = noisy.split_once(';').ok_or_else(wrong)?;
            let (noise, bot) = (noise.trim().parse()?, bot.trim());
            if bot.starts_with(NOISY_PREFIX) {
                return Err(wrong());
            }
            return Ok(BotSpec::Noisy(noise, Box::new(BotSpec::parse(bot, find)?)));
        }
        match shipped_policy(text) {
            Some(shipped) => Ok(BotSpec::Policy(PolicySpec::new(text, shipped.policy()?, false))),
            None => Ok(BotSpec::Kind(bot(text)?)),
        }
    }
}

impl PolicySpec {
    /// A policy that was read from a file, or that is shipped.
    #[must_use]
    pub fn new(source: &str, policy: Arc<Policy>, is_sampled: bool) -> PolicySpec {
        PolicySpec { source: source.to_owned(), policy, is_sampled }
    }

    /// The path of its file, or its name if it is shipped.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The weights.
    #[must_use]
    pub const fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// Whether it is the shipped policy of its name.
    #[must_use]
    pub fn is_shipped(&self) -> bool {
        shipped_policy(&self.source).is_some_and(|shipped| shipped.bytes == self.policy.bytes())
    }

    /// Parses the text after the prefix.
    fn parse(text: &str, find: &FindPolicy<'_>) -> Result<PolicySpec, PolicyError> {
        let (source, is_sampled) = match text.rsplit_once(';') {
            Some((source, option)) if option.trim() == SAMPLED => (source.trim(), true),
            _ => (text.trim(), false),
        };
        let (source, policy) = find(source)?;
        Ok(PolicySpec { source, policy, is_sampled })
    }
}

/// Finds a policy that is shipped or in a file.
///
/// # Errors
/// [`PolicyError`] if the file cannot be read or is invalid.
pub fn find_policy(source: &str) -> Result<(String, Arc<Policy>), PolicyError> {
    if let Some(shipped) = shipped_policy(source) {
        return Ok((source.to_owned(), shipped.policy()?));
    }
    let path = serde_json::from_str(source).unwrap_or_else(|_| source.to_owned());
    let policy = read_policy(&path)?;
    Ok((path, policy))
}

impl FromStr for BotSpec {
    type Err = BotSpecError;

    fn from_str(text: &str) -> Result<BotSpec, BotSpecError> {
        BotSpec::parse(text, &find_policy)
    }
}

impl fmt::Display for BotSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BotSpec::Kind(kind) => formatter.write_str(kind.name),
            BotSpec::Rules(list) => {
                formatter.write_str(RULES_PREFIX)?;
                for (index, rule) in list.rules().iter().enumerate() {
                    write!(formatter, "{}{rule}", if index == 0 { " " } else { "; " })?;
                }
                Ok(())
            }
            BotSpec::Policy(spec) => spec.fmt(formatter),
            BotSpec::Noisy(noise, spec) => {
                write!(formatter, "{NOISY_PREFIX} {}; {spec}", noise.probability())
            }
        }
    }
}

impl fmt::Display for PolicySpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PolicySpec { source, is_sampled, .. } = self;
        let is_shipped = self.is_shipped();
        if is_shipped && !is_sampled {
            return formatter.write_str(source);
        }
        write!(formatter, "{POLICY_PREFIX} ")?;
        let is_plain = source.trim() == source
            && !source.contains(';')
            && !source.starts_with('"')
            && (is_shipped || shipped_policy(source).is_none());
        if is_plain {
            formatter.write_str(source)?;
        } else {
            let quoted = serde_json::to_string(source).map_err(|_| fmt::Error)?;
            formatter.write_str(&quoted.replace(';', "\\u003b"))?;
        }
        if *is_sampled { write!(formatter, "; {SAMPLED}") } else { Ok(()) }
    }
}

impl fmt::Debug for PolicySpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PolicySpec({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_displayed_as_they_are_parsed() {
        let rules = "rules: play-safe; play-probably-safe 0.6 if life_tokens > 1";
        for text in ["smart", rules, "noisy: 0.1; smart", &format!("noisy: 0.25; {rules}")] {
            assert_eq!(text.parse::<BotSpec>().unwrap().to_string(), text);
        }
        assert!(matches!("smrat".parse::<BotSpec>(), Err(BotSpecError::Unknown(_))));
        assert!(matches!("rules: play-saef".parse::<BotSpec>(), Err(BotSpecError::Rule(_))));
        assert!(matches!("rules:".parse::<BotSpec>(), Err(BotSpecError::Rule(_))));
        assert!(matches!("policy:".parse::<BotSpec>(), Err(BotSpecError::Policy(_))));
        for text in
            ["noisy: 1.5; smart", "noisy: nan; smart", "noisy: ; smart", "noisy: -0.1; smart"]
        {
            assert!(matches!(text.parse::<BotSpec>(), Err(BotSpecError::Noise(_))), "{text}");
        }
        for text in ["noisy: 0.1", "noisy: 0.1; noisy: 0.1; smart"] {
            assert!(matches!(text.parse::<BotSpec>(), Err(BotSpecError::NoisyText(_))), "{text}");
        }
        assert!(matches!("noisy: 0.1; smrat".parse::<BotSpec>(), Err(BotSpecError::Unknown(_))));
    }
}
