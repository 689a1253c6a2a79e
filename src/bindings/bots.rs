//! What there is to know about bots, and about the rules that lists are made of.

use pyo3::prelude::*;

use crate::bots::{self as kinds, BOTS, BotName, Plays, RULES, shipped_policy};

/// A kind of bot.
///
/// Attributes:
///     name: what `play_games` and `partners` take.
///     summary: one line about it.
///     source: who published it.
///     plays: "every" variant, "base game", or the "own variant" of a policy.
///     is_player: whether it sees only what its seat may see; one that does not is an upper bound.
#[pyclass(frozen, get_all, module = "starmine")]
pub struct BotKind {
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    plays: &'static str,
    is_player: bool,
}

#[pymethods]
impl BotKind {
    fn __repr__(&self) -> String {
        format!("<BotKind {}>", self.name)
    }
}

/// bots() -> list[str]
///
/// The names of all bots that play by rules; those of trained ones are `policies()`.
#[pyfunction]
pub fn bots() -> Vec<&'static str> {
    BOTS.iter().map(|kind| kind.name).collect()
}

/// bot(name) -> BotKind
///
/// What there is to know about a bot, or about a policy that comes with the package.
///
/// Raises:
///     UnknownNameError: there is no such bot.
///
/// >>> import starmine
/// >>> starmine.bot("random").plays
/// 'every'
#[pyfunction]
pub fn bot(name: &str) -> PyResult<BotKind> {
    if let Some(shipped) = shipped_policy(name) {
        let (name, summary) = (shipped.name, shipped.summary);
        let (source, plays) = ("starmine", "own variant");
        return Ok(BotKind { name, summary, source, plays, is_player: true });
    }
    let kind = kinds::bot(name)?;
    let plays = match kind.plays {
        Plays::Every => "every",
        Plays::BaseGame => "base game",
    };
    let (name, summary, source) = (kind.name, kind.summary, kind.source);
    Ok(BotKind { name, summary, source, plays, is_player: kind.is_player() })
}

/// rules() -> list[str]
///
/// The names of the rules that rule lists are made of. A list is a text such as
/// "rules: play-safe; hint-playable; discard-oldest", and stands wherever a bot's name does.
#[pyfunction]
pub fn rules() -> Vec<&'static str> {
    RULES.iter().map(|kind| kind.name).collect()
}

/// A kind of rule, of which rule lists are made.
///
/// Attributes:
///     name: what the text of a list calls it.
///     summary: one sentence about it.
///     published: its name in the literature.
///     takes_probability: whether its name is followed by a probability.
#[pyclass(frozen, get_all, module = "starmine")]
pub struct RuleKind {
    name: &'static str,
    summary: &'static str,
    published: &'static str,
    takes_probability: bool,
}

#[pymethods]
impl RuleKind {
    fn __repr__(&self) -> String {
        format!("<RuleKind {}>", self.name)
    }
}

/// rule(name) -> RuleKind
///
/// What there is to know about a rule.
///
/// Raises:
///     UnknownNameError: there is no such rule.
///
/// >>> import starmine
/// >>> starmine.rule("discard-oldest").summary
/// 'Discard the oldest card.'
#[pyfunction]
pub fn rule(name: &str) -> PyResult<RuleKind> {
    let kind = kinds::rule(name)?;
    let takes_probability = kind.takes_probability();
    let (name, summary, published) = (kind.name, kind.summary, kind.published);
    Ok(RuleKind { name, summary, published, takes_probability })
}

/// _check_bot(name)
///
/// Raises the error of a text that says no bot.
#[pyfunction]
pub fn _check_bot(name: &str) -> PyResult<()> {
    name.parse::<BotName>()?;
    Ok(())
}
