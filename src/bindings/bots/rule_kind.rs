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

/// A rule that rule lists are made of.
///
/// Attributes:
///     name: its name in the text of a rule list.
///     summary: one sentence about it.
///     published: its name in the literature.
///     takes_probability: whether a probability follows its name, as in "rules: play-probably-safe 0.6".
#[pyclass(frozen, eq, hash, get_all, module = "starmine.games")]
#[derive(PartialEq, Hash)]
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

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (&'static str,))> {
        Ok((py.import("starmine.games")?.getattr("rule")?, (self.name,)))
    }
}

/// rule(name) -> RuleKind
///
/// Describes a rule.
///
/// Raises:
///     UnknownNameError: there is no such rule.
///
/// >>> import starmine
/// >>> starmine.games.rule("discard-oldest").summary
/// 'Discard the oldest card.'
#[pyfunction]
pub fn rule(name: Text) -> PyResult<RuleKind> {
    let kind = kinds::rule(&name)?;
    let takes_probability = kind.takes_probability();
    let (name, summary, published) = (kind.name, kind.summary, kind.published);
    Ok(RuleKind { name, summary, published, takes_probability })
}
