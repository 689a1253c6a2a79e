use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::registry::{BotKind, UnknownBot, UnsupportedVariant, bot};
use super::rule_list::{RuleError, RuleList};
use super::table::Player;
use crate::rules::Variant;

/// What the text of a rule list begins with.
const RULES_PREFIX: &str = "rules:";

/// A bot as a text says: one of the registry by its name, or a list of rules, such as
/// `rules: play-safe; hint-playable; discard-oldest`.
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
    /// A list of rules.
    Rules(RuleList),
}

/// A text that says no bot.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BotNameError {
    /// A name that no bot has.
    #[error(transparent)]
    Unknown(#[from] UnknownBot),
    /// A rule that does not exist.
    #[error(transparent)]
    Rule(#[from] RuleError),
}

impl BotName {
    /// A player that plays this variant.
    ///
    /// # Errors
    /// [`UnsupportedVariant`] when it was not written for it.
    pub fn player(&self, variant: &Variant) -> Result<Player, UnsupportedVariant> {
        match self {
            BotName::Kind(kind) => kind.player(variant),
            BotName::Rules(list) => Ok(Player::Bot(Box::new(list.clone()))),
        }
    }
}

impl FromStr for BotName {
    type Err = BotNameError;

    fn from_str(text: &str) -> Result<BotName, BotNameError> {
        match text.strip_prefix(RULES_PREFIX) {
            None => Ok(BotName::Kind(bot(text)?)),
            Some(rules) => {
                let rules: Vec<&str> = rules.split(';').map(str::trim).collect();
                Ok(BotName::Rules(RuleList::parse(&rules)?))
            }
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written_alike() {
        for text in ["smart", "rules: play-safe; play-probably-safe 0.6 if life_tokens > 1"] {
            assert_eq!(text.parse::<BotName>().unwrap().to_string(), text);
        }
        assert!(matches!("smrat".parse::<BotName>(), Err(BotNameError::Unknown(_))));
        assert!(matches!("rules: play-saef".parse::<BotName>(), Err(BotNameError::Rule(_))));
        assert!(matches!("rules:".parse::<BotName>(), Err(BotNameError::Rule(_))));
    }
}
