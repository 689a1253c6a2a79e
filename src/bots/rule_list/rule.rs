//! The rules by name: one row each, and the texts that say which rules a list has.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::condition::{Condition, EXPECTED};
use super::scene::Scene;
use super::{discard, hint, play};
use crate::bots::registry::nearest;
use crate::rules::Move;

/// What a rule does.
#[derive(Clone, Copy)]
enum Apply {
    /// The same always.
    Plain(fn(&mut Scene<'_>) -> Option<Move>),
    /// Something that depends on a probability.
    From(fn(&mut Scene<'_>, f64) -> Option<Move>),
}

/// A kind of rule.
#[derive(Clone, Copy)]
pub struct RuleKind {
    /// The name that texts call it by.
    pub name: &'static str,
    /// One sentence about it.
    pub summary: &'static str,
    /// Its name in the literature.
    pub published: &'static str,
    apply: Apply,
}

impl RuleKind {
    /// Whether the name is followed by a probability.
    #[must_use]
    pub const fn takes_probability(&self) -> bool {
        matches!(self.apply, Apply::From(_))
    }
}

impl fmt::Debug for RuleKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

/// All rules. None of them applies when the rules of the game forbid its move.
pub const RULES: &[RuleKind] = &[
    RuleKind {
        name: "play-certain",
        summary: "Play the oldest card whose colour and rank were both named and which fits.",
        published: "PlayIfCertain",
        apply: Apply::Plain(play::certain),
    },
    RuleKind {
        name: "play-safe",
        summary: "Play the oldest card that fits whatever the hints leave plausible.",
        published: "PlaySafeCard",
        apply: Apply::Plain(play::safe),
    },
    RuleKind {
        name: "play-probably-safe",
        summary: "Play the card that most probably fits, if it does with at least this probability.",
        published: "PlayProbablySafeCard",
        apply: Apply::From(play::probably_safe),
    },
    RuleKind {
        name: "hint-playable",
        summary: "Hint a playable card that is not known: the rank, or else the colour.",
        published: "TellPlayableCardOuter",
        apply: Apply::Plain(hint::playable),
    },
    RuleKind {
        name: "hint-playable-randomly",
        summary: "Hint the first playable card, known or not: rank or colour by chance.",
        published: "TellPlayableCard",
        apply: Apply::Plain(hint::playable_randomly),
    },
    RuleKind {
        name: "hint-useless",
        summary: "Hint a dead card that is not known: the colour, or else the rank.",
        published: "TellAnyoneUselessCard",
        apply: Apply::Plain(hint::useless),
    },
    RuleKind {
        name: "hint-dispensable",
        summary: "Give a hint that shows at once that a card was played already.",
        published: "TellDispensable",
        apply: Apply::Plain(hint::dispensable),
    },
    RuleKind {
        name: "hint-most",
        summary: "Give the hint that points out the most cards.",
        published: "TellMostInformation",
        apply: Apply::Plain(hint::most),
    },
    RuleKind {
        name: "hint-unknown",
        summary: "Hint the next player's oldest card that is not known: the colour, or else the rank.",
        published: "TellUnknown",
        apply: Apply::Plain(hint::unknown),
    },
    RuleKind {
        name: "hint-randomly",
        summary: "Hint any card of the next player, known or not: rank or colour by chance.",
        published: "TellRandomly",
        apply: Apply::Plain(hint::randomly),
    },
    RuleKind {
        name: "discard-osawa",
        summary: "Discard a card that the hints about it prove to be dead.",
        published: "OsawaDiscard",
        apply: Apply::Plain(discard::osawa),
    },
    RuleKind {
        name: "discard-oldest",
        summary: "Discard the oldest card.",
        published: "DiscardOldestFirst",
        apply: Apply::Plain(discard::oldest),
    },
    RuleKind {
        name: "discard-randomly",
        summary: "Discard any card.",
        published: "DiscardRandomly",
        apply: Apply::Plain(discard::randomly),
    },
    RuleKind {
        name: "discard-probably-useless",
        summary: "Discard the card that is most probably dead, if it is with at least this probability.",
        published: "DiscardProbablyUselessCard",
        apply: Apply::From(discard::probably_useless),
    },
    RuleKind {
        name: "any-legal",
        summary: "Make any legal move, as every list does where none of its rules applies.",
        published: "LegalRandom",
        apply: Apply::Plain(|scene| Some(scene.any_legal())),
    },
];

/// One rule of a list, as its text says: the name of a [`RuleKind`], its probability if it takes
/// one, and on which conditions it is used.
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

/// A rule was asked for by a name that none has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("rule={name:?} is not known: did you mean {nearest:?}? expected one of {known}")]
pub struct UnknownRule {
    /// The name that was asked for.
    pub name: String,
    /// The name that is most like it.
    pub nearest: &'static str,
    /// The names that there are.
    pub known: String,
}

/// A text that is no rule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RuleError {
    /// No rule has its name.
    #[error(transparent)]
    Unknown(#[from] UnknownRule),
    /// A rule's probability is missing or out of range, or it takes none.
    #[error("rule={text:?}: expected {expected} after {name:?}, found {found:?}")]
    Probability {
        /// The whole text.
        text: String,
        /// The name in it.
        name: &'static str,
        /// What may follow the name.
        expected: &'static str,
        /// What follows it.
        found: String,
    },
    /// What follows "if" is no condition.
    #[error("rule={text:?}: {found:?} is not a condition: expected {EXPECTED}")]
    Condition {
        /// The whole text.
        text: String,
        /// What was found instead.
        found: String,
    },
}

impl Rule {
    /// The kind of rule.
    #[must_use]
    pub const fn kind(&self) -> &'static RuleKind {
        self.kind
    }

    /// The rule's move, if it has one now.
    #[inline]
    pub(super) fn apply(&self, scene: &mut Scene<'_>) -> Option<Move> {
        if !self.conditions.iter().all(|condition| condition.holds(scene.view)) {
            return None;
        }
        match self.kind.apply {
            Apply::Plain(apply) => apply(scene),
            Apply::From(apply) => apply(scene, self.probability),
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

/// The kind of rule of this name.
///
/// # Errors
/// [`UnknownRule`], with the nearest name and all names.
pub fn rule(name: &str) -> Result<&'static RuleKind, UnknownRule> {
    RULES.iter().find(|kind| kind.name == name).ok_or_else(|| {
        let names = || RULES.iter().map(|kind| kind.name);
        UnknownRule {
            name: name.to_owned(),
            nearest: nearest(name, names()),
            known: names().collect::<Vec<&str>>().join(", "),
        }
    })
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

/// The conditions after "if", which is the first of the words if there are any.
fn parse_conditions(text: &str, words: &[&str]) -> Result<Vec<Condition>, RuleError> {
    let Some((_, words)) = words.split_first() else { return Ok(Vec::new()) };
    let conditions = words.split(|&word| word == "and").map(|words| {
        Condition::parse(words)
            .ok_or_else(|| RuleError::Condition { text: text.to_owned(), found: words.join(" ") })
    });
    conditions.collect()
}
