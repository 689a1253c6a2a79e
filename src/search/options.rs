//! How much a search does, and how it chooses.

use std::fmt::{Debug, Display};
use std::ops::RangeInclusive;

use thiserror::Error;

/// The most roll-outs, and the most milliseconds.
const MOST: i64 = 1_000_000_000;
/// The most hands.
const HANDS: i64 = 100_000;
/// The greatest depth.
const DEPTH: i64 = 1_000;
/// The step of [`Method::Mirror`] where none is given.
pub(super) const STEP: f64 = 10.0;

/// How a search judges the moves by their values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// One seat searches, its teammates play by the blueprint (SPARTA: Lerer, Hu, Foerster and
    /// Brown, "Improving policies via search in cooperative partially observable games", 2020).
    Single,
    /// Every seat may search: each takes one step of mirror descent from the blueprint's
    /// probabilities towards better moves, and makes the likeliest one (Sokota et al., "The
    /// update-equivalence framework for decision-time planning", 2023).
    Mirror {
        /// What a point is worth in the logarithm of a probability: above 0, up to 1,000,000.
        step: f64,
    },
}

/// How much a search does. Every value is one that a search allows.
///
/// ```
/// use starmine::search::{Method, SearchOptions};
///
/// let options = SearchOptions::default().with_rollouts(1_000)?.with_method(Method::Mirror { step: 5.0 })?;
/// let error = options.with_depth(0).unwrap_err();
/// assert_eq!(error.to_string(), "depth=0 is not allowed: expected 1 to 1000");
/// # Ok::<(), starmine::search::SearchOptionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchOptions {
    pub(super) rollouts: u32,
    pub(super) milliseconds: Option<u32>,
    pub(super) hands: usize,
    pub(super) depth: Option<u32>,
    pub(super) threshold: f64,
    pub(super) method: Method,
}

/// A value that an option of a search may not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[error("{option}={value} is not allowed: expected {expected}")]
pub struct SearchOptionError {
    /// The option's name.
    pub option: &'static str,
    /// The refused value.
    pub value: String,
    /// The values that are allowed.
    pub expected: String,
}

impl SearchOptionError {
    pub(super) fn new(option: &'static str, value: impl Display, expected: &str) -> Self {
        SearchOptionError { option, value: value.to_string(), expected: expected.to_owned() }
    }
}

impl Default for SearchOptions {
    /// 10,000 roll-outs without a limit of time, 4,096 hands, games that are played to the end, a
    /// threshold of 0.1 and [`Method::Single`].
    fn default() -> SearchOptions {
        SearchOptions {
            rollouts: 10_000,
            milliseconds: None,
            hands: 4_096,
            depth: None,
            threshold: 0.1,
            method: Method::Single,
        }
    }
}

impl SearchOptions {
    /// Sets the number of roll-outs of one decision, over all moves: 1 to 1,000,000,000.
    ///
    /// # Errors
    /// [`SearchOptionError`] if the number is out of range.
    pub fn with_rollouts(self, rollouts: i64) -> Result<SearchOptions, SearchOptionError> {
        Ok(SearchOptions { rollouts: whole("rollouts", rollouts, MOST)?, ..self })
    }

    /// Sets the time limit of a decision in milliseconds, 1 to 1,000,000,000. The decision then
    /// uses the roll-outs made so far. Results then differ from run to run.
    ///
    /// # Errors
    /// [`SearchOptionError`] if the number is out of range.
    pub fn with_milliseconds(self, milliseconds: i64) -> Result<SearchOptions, SearchOptionError> {
        let milliseconds = Some(whole("milliseconds", milliseconds, MOST)?);
        Ok(SearchOptions { milliseconds, ..self })
    }

    /// Sets the number of possible own hands that are kept: 1 to 100,000. A belief of no more hands
    /// is exact.
    ///
    /// # Errors
    /// [`SearchOptionError`] if the number is out of range.
    pub fn with_hands(self, hands: i64) -> Result<SearchOptions, SearchOptionError> {
        Ok(SearchOptions { hands: whole("hands", hands, HANDS)? as usize, ..self })
    }

    /// Sets the length of a roll-out in moves, after which the policy's network values its
    /// position: 1 to 1,000.
    ///
    /// # Errors
    /// [`SearchOptionError`] if the number is out of range.
    pub fn with_depth(self, depth: i64) -> Result<SearchOptions, SearchOptionError> {
        Ok(SearchOptions { depth: Some(whole("depth", depth, DEPTH)?), ..self })
    }

    /// Sets the minimum lead of a move's mean score over the blueprint's move, with
    /// [`Method::Single`]: 0 to 100 points.
    ///
    /// # Errors
    /// [`SearchOptionError`] if the number is out of range.
    pub fn with_threshold(self, threshold: f64) -> Result<SearchOptions, SearchOptionError> {
        let threshold = real("threshold", threshold, 0.0..=100.0, "a number from 0 to 100")?;
        Ok(SearchOptions { threshold, ..self })
    }

    /// Sets how it judges.
    ///
    /// # Errors
    /// [`SearchOptionError`] if the step of [`Method::Mirror`] is out of range.
    pub fn with_method(self, method: Method) -> Result<SearchOptions, SearchOptionError> {
        if let Method::Mirror { step } = method {
            real("step", step, f64::MIN_POSITIVE..=1e6, "a number above 0, up to 1000000")?;
        }
        Ok(SearchOptions { method, ..self })
    }
}

impl Method {
    /// The method of this name, `single` or `mirror`. Mirror descent has a step of 10 where none is
    /// given.
    ///
    /// # Errors
    /// [`SearchOptionError`] for another name, or for a step of the method `single`.
    pub fn from_name(name: &str, step: Option<f64>) -> Result<Method, SearchOptionError> {
        match (name, step) {
            ("single", None) => Ok(Method::Single),
            ("single", Some(step)) => {
                Err(SearchOptionError::new("step", step, "no step without \"method=mirror\""))
            }
            ("mirror", step) => Ok(Method::Mirror { step: step.unwrap_or(STEP) }),
            _ => Err(SearchOptionError::new("method", format!("{name:?}"), "single or mirror")),
        }
    }
}

/// A whole number from 1 to a largest one.
fn whole(option: &'static str, number: i64, most: i64) -> Result<u32, SearchOptionError> {
    let allowed = u32::try_from(number).ok().filter(|_| (1..=most).contains(&number));
    allowed.ok_or_else(|| SearchOptionError::new(option, number, &format!("1 to {most}")))
}

/// A number in a range.
fn real(
    option: &'static str,
    number: f64,
    allowed: RangeInclusive<f64>,
    expected: &str,
) -> Result<f64, SearchOptionError> {
    let is_allowed = allowed.contains(&number);
    is_allowed.then_some(number).ok_or_else(|| SearchOptionError::new(option, number, expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_refused_with_the_range() {
        let options = SearchOptions::default();
        let refused = [
            options.with_rollouts(0),
            options.with_milliseconds(1_000_000_001),
            options.with_hands(100_001),
            options.with_depth(-1),
            options.with_threshold(f64::NAN),
            options.with_threshold(-0.5),
            options.with_method(Method::Mirror { step: 0.0 }),
            options.with_method(Method::Mirror { step: f64::INFINITY }),
        ];
        let messages = refused.map(|refused| refused.unwrap_err().to_string());
        let expected = [
            "rollouts=0 is not allowed: expected 1 to 1000000000",
            "milliseconds=1000000001 is not allowed: expected 1 to 1000000000",
            "hands=100001 is not allowed: expected 1 to 100000",
            "depth=-1 is not allowed: expected 1 to 1000",
            "threshold=NaN is not allowed: expected a number from 0 to 100",
            "threshold=-0.5 is not allowed: expected a number from 0 to 100",
            "step=0 is not allowed: expected a number above 0, up to 1000000",
            "step=inf is not allowed: expected a number above 0, up to 1000000",
        ];
        assert_eq!(messages, expected);
    }
}
