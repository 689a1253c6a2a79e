//! How much a search does, and how it chooses.

use std::fmt::{Debug, Display};
use std::ops::RangeInclusive;

use thiserror::Error;

use crate::bots::SearchSeats;

/// The most roll-outs, and the most milliseconds.
const MOST: i64 = 1_000_000_000;
/// The most hands.
const HANDS: i64 = 100_000;
/// The greatest depth.
const DEPTH: i64 = 1_000;
/// The threshold of [`Method::Single`] where none is given.
const SINGLE_THRESHOLD: f64 = 0.1;
/// The step of [`Method::Mirror`] where none is given.
pub(crate) const MIRROR_STEP: f64 = 10.0;

/// How a search judges the moves by their values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// One seat searches, its teammates play by the blueprint (SPARTA: Lerer, Hu, Foerster and
    /// Brown, "Improving policies via search in cooperative partially observable games", 2020).
    Single {
        /// The minimum lead of a move's mean score over the blueprint's move, in points: 0 to 100.
        threshold: f64,
    },
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
    pub(super) method: Method,
    /// How many seats of a table may search with [`Method::Single`]; with [`Method::Mirror`] all may.
    pub seats: SearchSeats,
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
    pub(crate) fn new(option: &'static str, value: impl Display, expected: &str) -> Self {
        SearchOptionError { option, value: value.to_string(), expected: expected.to_owned() }
    }
}

impl Default for SearchOptions {
    /// 10,000 roll-outs without a limit of time, 4,096 hands, games that are played to the end, and
    /// [`Method::Single`] with a threshold of 0.1, for one seat.
    fn default() -> SearchOptions {
        SearchOptions {
            rollouts: 10_000,
            milliseconds: None,
            hands: 4_096,
            depth: None,
            method: Method::Single { threshold: SINGLE_THRESHOLD },
            seats: SearchSeats::One,
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

    /// Sets how the moves are judged by their mean scores.
    ///
    /// # Errors
    /// [`SearchOptionError`] if the method's number is out of range.
    pub fn with_method(self, method: Method) -> Result<SearchOptions, SearchOptionError> {
        match method {
            Method::Single { threshold } => {
                real("threshold", threshold, 0.0..=100.0, "a number from 0 to 100")?;
            }
            Method::Mirror { step } => {
                real("step", step, f64::MIN_POSITIVE..=1e6, "a number above 0, up to 1000000")?;
            }
        }
        Ok(SearchOptions { method, ..self })
    }

    /// Number of roll-outs of one decision, over all moves.
    #[must_use]
    pub const fn rollouts(&self) -> u32 {
        self.rollouts
    }

    /// The time limit of a decision in milliseconds, if it has one.
    #[must_use]
    pub const fn milliseconds(&self) -> Option<u32> {
        self.milliseconds
    }

    /// Number of possible own hands that are kept.
    #[must_use]
    pub const fn hands(&self) -> usize {
        self.hands
    }

    /// The length of a roll-out in moves; `None` if each goes on to the end of its game.
    #[must_use]
    pub const fn depth(&self) -> Option<u32> {
        self.depth
    }

    /// How many seats of a table may search.
    pub(crate) const fn search_seats(&self) -> SearchSeats {
        match self.method {
            Method::Single { .. } => self.seats,
            Method::Mirror { .. } => SearchSeats::All,
        }
    }

    /// How the moves are judged by their mean scores.
    #[must_use]
    pub const fn method(&self) -> Method {
        self.method
    }
}

impl Method {
    /// The method of this name, `single` or `mirror`. Where its number is not given, `single` has a
    /// threshold of 0.1 and `mirror` a step of 10.
    ///
    /// # Errors
    /// [`SearchOptionError`] for another name, or for the number of the other method.
    pub fn from_name(
        name: &str,
        threshold: Option<f64>,
        step: Option<f64>,
    ) -> Result<Method, SearchOptionError> {
        match (name, threshold, step) {
            ("single", _, Some(step)) => {
                Err(SearchOptionError::new("step", step, "no step without \"method=mirror\""))
            }
            ("single", threshold, None) => {
                Ok(Method::Single { threshold: threshold.unwrap_or(SINGLE_THRESHOLD) })
            }
            ("mirror", Some(threshold), _) => {
                let expected = "no threshold with \"method=mirror\"";
                Err(SearchOptionError::new("threshold", threshold, expected))
            }
            ("mirror", None, step) => Ok(Method::Mirror { step: step.unwrap_or(MIRROR_STEP) }),
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
            options.with_method(Method::Single { threshold: f64::NAN }),
            options.with_method(Method::Single { threshold: -0.5 }),
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
