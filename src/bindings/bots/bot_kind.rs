//! The registered bots: their names, and what each of them says of itself.

use pyo3::prelude::*;

use crate::bindings::arguments::text::Text;
use crate::bots::{self as kinds, BOTS};
use crate::nn::shipped_policy;

/// A bot of the registry.
///
/// Attributes:
///     name: the name that `play_games` and `partners` take.
///     summary: one line about it.
///     source: who published it.
///     plays: the variants that it plays: "every", "base game", or "own variant" for a policy.
///     is_player: False for a bot that cheats: it sees its own hand, and its score is an upper bound. True for a bot
///         that sees only what its seat may see.
#[pyclass(frozen, eq, hash, get_all, module = "starmine.games")]
#[derive(PartialEq, Hash)]
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

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (&'static str,))> {
        Ok((py.import("starmine.games")?.getattr("bot")?, (self.name,)))
    }
}

/// bots() -> list[str]
///
/// The names of all rule-based bots; `policies()` has the trained ones.
#[pyfunction]
pub fn bots() -> Vec<&'static str> {
    BOTS.iter().map(|kind| kind.name).collect()
}

/// bot(name) -> BotKind
///
/// Describes a bot, or a policy that comes with the package.
///
/// Raises:
///     UnknownNameError: there is no such bot.
///
/// >>> import starmine
/// >>> starmine.games.bot("random").plays
/// 'every'
#[pyfunction]
pub fn bot(name: Text) -> PyResult<BotKind> {
    if let Ok(shipped) = shipped_policy(&name) {
        let (name, summary) = (shipped.name, shipped.summary);
        let (source, plays) = ("starmine", "own variant");
        return Ok(BotKind { name, summary, source, plays, is_player: true });
    }
    let kind = kinds::bot_or_policy(&name)?;
    let plays = if kind.plays_every_preset() { "every" } else { "base game" };
    let (name, summary, source) = (kind.name, kind.summary, kind.source);
    Ok(BotKind { name, summary, source, plays, is_player: !kind.cheats() })
}
