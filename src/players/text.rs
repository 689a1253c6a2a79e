//! The text of a player: how it is parsed and displayed.

use std::fmt;
use std::str::FromStr;

use super::error::PlayerSpecError;
use super::player_spec::{PlayerSpec, Spec};
use super::policy_source::{FindPolicy, NamedPolicy, POLICY_PREFIX, find_policy};
use super::search_text::SearchText;
use crate::bots::{Noise, RuleList, bot_or_policy};
use crate::nn::{MoveChoice, shipped_policy};
use crate::search::{MIRROR_STEP, Method, SearchOptions};

/// Prefix of a rule list's text.
const RULES_PREFIX: &str = "rules:";
/// Prefix of a bot with noise; its probability and the bot follow.
const NOISY_PREFIX: &str = "noisy:";

impl FromStr for PlayerSpec {
    type Err = PlayerSpecError;

    fn from_str(text: &str) -> Result<PlayerSpec, PlayerSpecError> {
        PlayerSpec::parse(text, &find_policy)
    }
}

impl PlayerSpec {
    /// Parses a text, without the spaces around it; `find` finds its policy.
    ///
    /// # Errors
    /// [`PlayerSpecError`] if the text names no player.
    pub(super) fn parse(text: &str, find: &FindPolicy<'_>) -> Result<PlayerSpec, PlayerSpecError> {
        match SearchText::of(text) {
            Some(text) => parse_search(&text, find),
            None => parse_bot(text.trim(), find),
        }
    }
}

/// Parses the text of a player that does not search.
fn parse_bot(text: &str, find: &FindPolicy<'_>) -> Result<PlayerSpec, PlayerSpecError> {
    if let Some(rules) = text.strip_prefix(RULES_PREFIX) {
        let rules: Vec<&str> = rules.split(';').map(str::trim).collect();
        return Ok(PlayerSpec(Spec::Rules(RuleList::parse(&rules)?)));
    }
    if let Some(policy) = text.strip_prefix(POLICY_PREFIX) {
        return Ok(PlayerSpec(Spec::Policy(NamedPolicy::parse(policy, find)?)));
    }
    if let Some(noisy) = text.strip_prefix(NOISY_PREFIX) {
        let parts = noisy.split_once(';');
        let (noise, bot) = parts.ok_or_else(|| PlayerSpecError::NoisyText(text.to_owned()))?;
        let (noise, bot) = (noise.trim(), bot.trim());
        let probability = noise.parse().ok().and_then(Noise::new);
        let noise = probability.ok_or_else(|| PlayerSpecError::Noise(noise.to_owned()))?;
        if bot.starts_with(NOISY_PREFIX) {
            return Err(PlayerSpecError::NoisyText(bot.to_owned()));
        }
        return parse_bot(bot, find)?.with_noise(noise);
    }
    match shipped_policy(text) {
        Ok(_) => {
            let (source, policy) = find(text)?;
            Ok(PlayerSpec::of_policy(&source, policy, MoveChoice::Greedy))
        }
        Err(_) => Ok(PlayerSpec(Spec::Kind(bot_or_policy(text)?))),
    }
}

/// Parses the text of a player that searches.
fn parse_search(
    SearchText { blueprint, options }: &SearchText<'_>,
    find: &FindPolicy<'_>,
) -> Result<PlayerSpec, PlayerSpecError> {
    let read = SearchOptions::read(options)?; // refuses unknown names: two of a few known ones are soon found
    for (index, (name, _)) in options.iter().enumerate() {
        if options[..index].iter().any(|(earlier, _)| earlier == name) {
            return Err(PlayerSpecError::Twice((*name).to_owned()));
        }
    }
    Ok(parse_bot(blueprint, find)?.with_search(read)?)
}

impl fmt::Display for PlayerSpec {
    /// As it is parsed. Options that have their defaults are left out.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Spec::Kind(kind) => formatter.write_str(kind.name),
            Spec::Rules(list) => {
                formatter.write_str(RULES_PREFIX)?;
                for (index, rule) in list.rules().iter().enumerate() {
                    write!(formatter, "{}{rule}", if index == 0 { " " } else { "; " })?;
                }
                Ok(())
            }
            Spec::Policy(named) => named.fmt(formatter),
            Spec::Noisy(noise, spec) => {
                write!(formatter, "{NOISY_PREFIX} {}; {spec}", noise.probability())
            }
            Spec::Search { blueprint, options } => {
                write!(formatter, "{} {blueprint}", SearchText::PREFIX)?;
                write_options(formatter, options)
            }
            Spec::External => formatter.write_str("an external partner"),
        }
    }
}

fn write_options(formatter: &mut fmt::Formatter<'_>, options: &SearchOptions) -> fmt::Result {
    let usual = SearchOptions::default();
    if options.rollouts != usual.rollouts {
        write!(formatter, "; rollouts={}", options.rollouts)?;
    }
    if let Some(limit) = options.time_limit {
        write!(formatter, "; milliseconds={}", limit.as_millis())?;
    }
    if options.hands != usual.hands {
        write!(formatter, "; hands={}", options.hands)?;
    }
    if let Some(depth) = options.depth {
        write!(formatter, "; depth={depth}")?;
    }
    match (options.method, usual.method) {
        (Method::Mirror { step }, _) => {
            formatter.write_str("; method=mirror")?;
            if step != MIRROR_STEP {
                write!(formatter, "; step={step}")?;
            }
        }
        (single @ Method::Single { threshold }, usual) => {
            if single != usual {
                write!(formatter, "; threshold={threshold}")?;
            }
        }
    }
    Ok(())
}
