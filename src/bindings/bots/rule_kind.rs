//! The rules that rule lists are made of.

use pyo3::prelude::*;

use crate::bindings::arguments::text::Text;
use crate::bots::{self as kinds, RULES};

/// rules() -> list[str]
///
/// The names of the rules that rule lists are made of. A rule list is a text such as
/// "rules: play-safe; play-probably-safe 0.6; discard-oldest" and is accepted wherever a bot's name is.
#[pyfunction]
pub fn rules() -> Vec<&'static str> {
    RULES.iter().map(|kind| kind.name).collect()
}

/// Name, summary, name in the literature, and whether a probability follows the name.
type RuleFields = (&'static str, &'static str, &'static str, bool);

/// _rule(name) -> tuple[str, str, str, bool]
///
/// The fields of the `RuleKind` of a rule.
///
/// Raises:
///     UnknownNameError: there is no such rule.
#[pyfunction]
pub fn _rule(name: Text) -> PyResult<RuleFields> {
    let kind = kinds::rule(&name)?;
    Ok((kind.name, kind.summary, kind.published, kind.takes_probability()))
}
