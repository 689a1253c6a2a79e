//! The registered bots: their names, and what each of them says of itself.

use pyo3::prelude::*;

use crate::bindings::arguments::text::Text;
use crate::bots::{self as kinds, BOTS};
use crate::nn::shipped_policy;

/// Name, summary, source, the variants that it plays, and whether it sees only what its seat may see.
type BotFields = (&'static str, &'static str, &'static str, &'static str, bool);

/// bots() -> list[str]
///
/// The names of all rule-based bots; `policies()` has the trained ones.
#[pyfunction]
pub fn bots() -> Vec<&'static str> {
    BOTS.iter().map(|kind| kind.name).collect()
}

/// _bot(name) -> tuple[str, str, str, str, bool]
///
/// The fields of the `BotKind` of a bot, or of a policy that comes with the package.
///
/// Raises:
///     UnknownNameError: there is no such bot.
#[pyfunction]
pub fn _bot(name: Text) -> PyResult<BotFields> {
    if let Ok(shipped) = shipped_policy(&name) {
        return Ok((shipped.name, shipped.summary, "starmine", "own variant", true));
    }
    let kind = kinds::bot_or_policy(&name)?;
    let plays = if kind.plays_every_preset() { "every" } else { "base game" };
    Ok((kind.name, kind.summary, kind.source, plays, !kind.cheats()))
}
