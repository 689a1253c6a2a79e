//! The rules by name: one row each, and the texts that say which rules a list has.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::condition::{Condition, EXPECTED};
use super::context::RuleContext;
use super::{discard_rules, hint_rules, play_rules};
use crate::rules::{Move, UnknownNameError, find_named};

/// The function of a rule. It returns `None` if the rule does not apply.
#[derive(Clone, Copy)]
enum Apply {
    /// Without a parameter.
    Plain(fn(&mut RuleContext<'_>) -> Option<Move>),
    /// With a probability threshold.
    Threshold(fn(&mut RuleContext<'_>, f64) -> Option<Move>),
}

/// A row of the table of rules.
#[derive(Clone, Copy)]
pub struct RuleKind {
    /// The name, as rule lists write it.
    pub name: &'static str,
    /// One sentence of description.
    pub summary: &'static str,
    /// Its name in the literature.
    pub published: &'static str,
    /// Whether its move is drawn at random.
    pub draws: bool,
    apply: Apply,
}

impl RuleKind {
    /// Whether the rule takes a probability threshold after its name.
    #[must_use]
    pub const fn takes_probability(&self) -> bool {
        matches!(self.apply, Apply::Threshold(_))
    }
}

impl fmt::Debug for RuleKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

/// All rules. A rule does not apply if its move would be illegal.
pub const RULES: &[RuleKind] = &[
    RuleKind {
        name: "play-certain",
        summary: "Play the oldest card whose colour and rank were both hinted and which is playable.",
        published: "PlayIfCertain",
        draws: false,
        apply: Apply::Plain(play_rules::certain),
    },
    RuleKind {
        name: "play-safe",
        summary: "Play the oldest card whose plausible kinds are all playable.",
        published: "PlaySafeCard",
        draws: false,
        apply: Apply::Plain(play_rules::safe),
    },
    RuleKind {
        name: "play-probably-safe",
        summary: "Play the card that is most likely playable, if it is with at least this probability.",
        published: "PlayProbablySafeCard",
        draws: false,
        apply: Apply::Threshold(play_rules::probably_safe),
    },
    RuleKind {
        name: "hint-playable",
        summary: "Hint a playable card that is not fully hinted: the rank, otherwise the colour.",
        published: "TellPlayableCardOuter",
        draws: false,
        apply: Apply::Plain(hint_rules::playable),
    },
    RuleKind {
        name: "hint-playable-randomly",
        summary: "Hint the first playable card, hinted or not: rank or colour at random.",
        published: "TellPlayableCard",
        draws: true,
        apply: Apply::Plain(hint_rules::playable_randomly),
    },
    RuleKind {
        name: "hint-useless",
        summary: "Hint a dead card that is not fully hinted: the colour, otherwise the rank.",
        published: "TellAnyoneUselessCard",
        draws: false,
        apply: Apply::Plain(hint_rules::useless),
    },
    RuleKind {
        name: "hint-dispensable",
        summary: "Give a hint that makes a card known to be played already.",
        published: "TellDispensable",
        draws: false,
        apply: Apply::Plain(hint_rules::dispensable),
    },
    RuleKind {
        name: "hint-most",
        summary: "Give the hint that touches the most cards.",
        published: "TellMostInformation",
        draws: false,
        apply: Apply::Plain(hint_rules::most),
    },
    RuleKind {
        name: "hint-unknown",
        summary: "Hint the next player's oldest card that is not fully hinted: the colour, otherwise the rank.",
        published: "TellUnknown",
        draws: false,
        apply: Apply::Plain(hint_rules::unknown),
    },
    RuleKind {
        name: "hint-randomly",
        summary: "Hint a random card of the next player, hinted or not: rank or colour at random.",
        published: "TellRandomly",
        draws: true,
        apply: Apply::Plain(hint_rules::randomly),
    },
    RuleKind {
        name: "discard-osawa",
        summary: "Discard a card that its hints prove to be dead.",
        published: "OsawaDiscard",
        draws: false,
        apply: Apply::Plain(discard_rules::osawa),
    },
    RuleKind {
        name: "discard-oldest",
        summary: "Discard the oldest card.",
        published: "DiscardOldestFirst",
        draws: false,
        apply: Apply::Plain(discard_rules::oldest),
    },
    RuleKind {
        name: "discard-randomly",
        summary: "Discard a random card.",
        published: "DiscardRandomly",
        draws: true,
        apply: Apply::Plain(discard_rules::randomly),
    },
    RuleKind {
        name: "discard-probably-useless",
        summary: "Discard the card that is most likely dead, if it is with at least this probability.",
        published: "DiscardProbablyUselessCard",
        draws: false,
        apply: Apply::Threshold(discard_rules::probably_useless),
    },
    RuleKind {
        name: "any-legal",
        summary: "Make a random legal move, as every list does if none of its rules applies.",
        published: "LegalRandom",
        draws: true,
        apply: Apply::Plain(|context| Some(context.any_legal())),
    },
];

/// One rule of a list, parsed from its text: the name of a [`RuleKind`], the probability threshold
/// if it takes one, and the conditions under which the rule is used.
///
/// ```
/// use starmine::bots::Rule;
///
/// let rule: Rule = "play-probably-safe 0.6 if life_tokens > 1".parse()?;
/// assert_eq!(rule.to_string(), "play-probably-safe 0.6 if life_tokens > 1");
/// # Ok::<(), starmine::bots::RuleError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rule {
    kind: &'static RuleKind,
    probability: f64,
    conditions: Vec<Condition>,
}

/// A text that cannot be parsed as a rule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RuleError {
    /// No rule has this name.
    #[error(transparent)]
    Unknown(#[from] UnknownNameError),
    /// The probability is missing or out of range, or the rule takes none.
    #[error("rule={text:?}: expected {expected} after {name:?}, found {found:?}")]
    Probability {
        /// The whole text.
        text: String,
        /// The rule's name.
        name: &'static str,
        /// What may follow the name.
        expected: &'static str,
        /// What follows the name.
        found: String,
    },
    /// The text after "if" or "and" is not a condition.
    #[error("rule={text:?}: {found:?} is not a condition: expected {EXPECTED}")]
    Condition {
        /// The whole text.
        text: String,
        /// The text in place of the condition.
        found: String,
    },
}

impl Rule {
    /// The kind of rule.
    #[must_use]
    pub const fn kind(&self) -> &'static RuleKind {
        self.kind
    }

    /// Whether it is the rule of this name without a condition and without a probability to reach.
    pub(super) fn always_applies(&self, name: &str) -> bool {
        let needs_nothing = !self.kind.takes_probability() || self.probability == 0.0;
        self.kind.name == name && self.conditions.is_empty() && needs_nothing
    }

    /// The rule's move, or `None` if the rule does not apply.
    #[inline]
    pub(super) fn apply(&self, context: &mut RuleContext<'_>) -> Option<Move> {
        if !self.conditions.iter().all(|condition| condition.holds(context.view)) {
            return None;
        }
        match self.kind.apply {
            Apply::Plain(apply) => apply(context),
            Apply::Threshold(apply) => apply(context, self.probability),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.kind.name)?;
        if self.kind.takes_probability() {
            write!(formatter, " {}", self.probability)?;
        }
        for (index, condition) in self.conditions.iter().enumerate() {
            write!(formatter, " {} {condition}", if index == 0 { "if" } else { "and" })?;
        }
        Ok(())
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Rule, RuleError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let conditions = words.iter().position(|&word| word == "if").unwrap_or(words.len());
        let (head, conditions) = words.split_at(conditions);
        let (name, numbers) = head.split_first().map_or(("", head), |(name, rest)| (*name, rest));
        let kind = rule(name)?;
        Ok(Rule {
            kind,
            probability: parse_probability(text, kind, numbers)?,
            conditions: parse_conditions(text, conditions)?,
        })
    }
}

/// The row of the rule with this name.
///
/// # Errors
/// [`UnknownNameError`] if there is none.
pub fn rule(name: &str) -> Result<&'static RuleKind, UnknownNameError> {
    find_named("rule", RULES, |kind| kind.name, name)
}

fn parse_probability(text: &str, kind: &RuleKind, words: &[&str]) -> Result<f64, RuleError> {
    let parsed = match words {
        [] if !kind.takes_probability() => Some(0.0),
        [word] if kind.takes_probability() => {
            word.parse().ok().filter(|probability| (0.0..=1.0).contains(probability))
        }
        _ => None,
    };
    let expected =
        if kind.takes_probability() { "a probability from 0 to 1" } else { "nothing or \"if\"" };
    parsed.ok_or_else(|| RuleError::Probability {
        text: text.to_owned(),
        name: kind.name,
        expected,
        found: words.join(" "),
    })
}

/// Parses the conditions. The words are empty or begin with "if".
fn parse_conditions(text: &str, words: &[&str]) -> Result<Vec<Condition>, RuleError> {
    let Some((_, words)) = words.split_first() else { return Ok(Vec::new()) };
    let conditions = words.split(|&word| word == "and").map(|words| {
        Condition::parse(words)
            .ok_or_else(|| RuleError::Condition { text: text.to_owned(), found: words.join(" ") })
    });
    conditions.collect()
}
