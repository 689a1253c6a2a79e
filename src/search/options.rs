//! How much a search does, and how it chooses.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::blueprint::Blueprint;
use super::error::SearchError;
use crate::rules::UnknownNameError;
use crate::threads::MAX_THREADS;

/// The most roll-outs, and the most milliseconds.
const MAX_ROLLOUTS: u32 = 1_000_000_000;
/// The most hands.
const MAX_HANDS: u32 = 100_000;
/// The greatest depth.
const MAX_DEPTH: u32 = 1_000;
/// The threshold of [`Method::Single`] where none is given.
const SINGLE_THRESHOLD: f64 = 0.1;
/// The names of the options in the text of a player.
const NAMES: [&str; 7] =
    ["rollouts", "milliseconds", "hands", "depth", "threshold", "method", "step"];
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

/// How much a search does. [`Searcher::new`](super::Searcher::new) checks the values.
///
/// ```
/// use starmine::players::PlayerSpec;
/// use starmine::rules::Variant;
/// use starmine::search::{Method, SearchOptions, Searcher};
///
/// let variant = Variant::default();
/// let smart = "smart".parse::<PlayerSpec>()?.bot(&variant)?;
/// let method = Method::Mirror { step: 5.0 };
/// let options = SearchOptions { rollouts: 1_000, method, ..SearchOptions::default() };
/// assert!(Searcher::new(smart.clone(), variant.clone(), options).is_ok());
///
/// let options = SearchOptions { hands: 0, ..options };
/// let error = Searcher::new(smart, variant, options).unwrap_err();
/// assert_eq!(error.to_string(), "hands=0 is not allowed: expected 1 to 100000");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchOptions {
    /// Number of roll-outs of one decision, over all moves: 1 to 1,000,000,000. If they are fewer than
    /// the legal moves, or only one move is legal, nothing is searched and the blueprint's move is
    /// chosen.
    pub rollouts: u32,
    /// The time limit of a decision, which then uses the roll-outs made so far; results differ from
    /// run to run. `None` for no limit.
    pub time_limit: Option<Duration>,
    /// Number of possible own hands that are kept: 1 to 100,000. A belief of no more hands is exact.
    pub hands: usize,
    /// The length of a roll-out in moves, after which the policy's network values its position: 1 to
    /// 1,000. Its values are added to the points so far, so the network must have learned them without
    /// a discount, or nearly. `None` if each roll-out goes on to the end of its game.
    pub depth: Option<u32>,
    /// How the moves are judged by their mean scores.
    pub method: Method,
    /// The number of threads of a decision; see [`MAX_THREADS`](crate::batch::MAX_THREADS). With a time
    /// limit, more threads make more roll-outs. The text of a [`PlayerSpec`](crate::players::PlayerSpec)
    /// does not have it: a player that is made of its text searches on one thread.
    pub num_threads: usize,
}

impl Default for Method {
    /// [`Method::Single`] with a threshold of 0.1.
    fn default() -> Method {
        Method::Single { threshold: SINGLE_THRESHOLD }
    }
}

impl Default for SearchOptions {
    /// 10,000 roll-outs without a limit of time, 4,096 hands, games that are played to the end, the
    /// default method, and one thread.
    fn default() -> SearchOptions {
        SearchOptions {
            rollouts: 10_000,
            time_limit: None,
            hands: 4_096,
            depth: None,
            method: Method::default(),
            num_threads: 1,
        }
    }
}

impl SearchOptions {
    /// The options with these names and values, as the text of a player has them. Others have their defaults.
    ///
    /// # Errors
    /// [`SearchError`] for another name, or a value that is out of range.
    pub(crate) fn read(given: &[(&str, &str)]) -> Result<SearchOptions, SearchError> {
        let mut options = SearchOptions::default();
        let (mut method, mut threshold, mut step) = ("single", None, None);
        for &(name, value) in given {
            match name {
                "rollouts" => options.rollouts = whole("rollouts", value, MAX_ROLLOUTS)?,
                "milliseconds" => {
                    let milliseconds = whole("milliseconds", value, MAX_ROLLOUTS)?;
                    options.time_limit = Some(Duration::from_millis(milliseconds.into()));
                }
                "hands" => options.hands = whole("hands", value, MAX_HANDS)? as usize,
                "depth" => options.depth = Some(whole("depth", value, MAX_DEPTH)?),
                "method" => method = value,
                "threshold" => threshold = Some(threshold_of(value)?),
                "step" => step = Some(step_of(value)?),
                _ => return Err(UnknownNameError::new("option", name, NAMES).into()),
            }
        }
        options.method = Method::from_name(method, threshold, step)?;
        Ok(options)
    }

    /// # Errors
    /// [`SearchError`] for an option that is out of its range.
    pub(crate) fn check(&self) -> Result<(), SearchError> {
        whole("rollouts", self.rollouts, MAX_ROLLOUTS)?;
        whole("hands", self.hands, MAX_HANDS)?;
        self.depth.map_or(Ok(1), |depth| whole("depth", depth, MAX_DEPTH))?;
        match self.method {
            Method::Single { threshold } => threshold_of(threshold)?,
            Method::Mirror { step } => step_of(step)?,
        };
        Ok(())
    }

    /// As [`SearchOptions::check`], for a player whose text has the options.
    pub(crate) fn check_text(&self) -> Result<(), SearchError> {
        if let Some(limit) = self.time_limit {
            let is_whole = limit.subsec_nanos() % 1_000_000 == 0;
            if !is_whole || whole("time_limit", limit.as_millis(), MAX_ROLLOUTS).is_err() {
                let expected = format!("whole milliseconds, 1 to {MAX_ROLLOUTS}");
                return Err(SearchError::option("time_limit", format!("{limit:?}"), &expected));
            }
        }
        self.check()
    }

    /// The blueprint for each thread of a decision.
    pub(super) fn workers(&self, blueprint: &Blueprint) -> Vec<Blueprint> {
        vec![blueprint.clone(); self.num_threads.clamp(1, MAX_THREADS)]
    }
}

impl Method {
    /// The method of this name, `single` or `mirror`. Where its number is not given, `single` has a
    /// threshold of 0.1 and `mirror` a step of 10.
    ///
    /// # Errors
    /// [`SearchError`] for another name, or for the number of the other method.
    fn from_name(
        name: &str,
        threshold: Option<f64>,
        step: Option<f64>,
    ) -> Result<Method, SearchError> {
        match (name, threshold, step) {
            ("single", _, Some(step)) => {
                Err(SearchError::option("step", step, "no step without \"method=mirror\""))
            }
            ("single", threshold, None) => {
                Ok(Method::Single { threshold: threshold.unwrap_or(SINGLE_THRESHOLD) })
            }
            ("mirror", Some(threshold), _) => {
                let expected = "no threshold with \"method=mirror\"";
                Err(SearchError::option("threshold", threshold, expected))
            }
            ("mirror", None, step) => Ok(Method::Mirror { step: step.unwrap_or(MIRROR_STEP) }),
            _ => Err(SearchError::option("method", format!("{name:?}"), "single or mirror")),
        }
    }
}

/// Reads a whole number from 1 to a largest one.
fn whole(option: &'static str, value: impl Display, most: u32) -> Result<u32, SearchError> {
    let allowed = value.to_string().parse().ok().filter(|number| (1..=most).contains(number));
    allowed.ok_or_else(|| SearchError::option(option, value, &format!("1 to {most}")))
}

/// Reads the number of [`Method::Single`].
fn threshold_of(value: impl Display) -> Result<f64, SearchError> {
    real("threshold", value, 0.0..=100.0, "a number from 0 to 100")
}

/// Reads the number of [`Method::Mirror`].
fn step_of(value: impl Display) -> Result<f64, SearchError> {
    real("step", value, f64::MIN_POSITIVE..=1e6, "a number above 0, up to 1000000")
}

/// Reads a number in a range.
fn real(
    option: &'static str,
    value: impl Display,
    allowed: RangeInclusive<f64>,
    expected: &str,
) -> Result<f64, SearchError> {
    let number = value.to_string().parse().ok().filter(|number| allowed.contains(number));
    number.ok_or_else(|| SearchError::option(option, value, expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_refused_with_the_range() {
        let usual = SearchOptions::default();
        let limit = |limit| SearchOptions { time_limit: Some(limit), ..usual };
        let method = |method| SearchOptions { method, ..usual };
        let single = |threshold| method(Method::Single { threshold });
        let cases = [
            (SearchOptions { rollouts: 0, ..usual }, "rollouts=0", "1 to 1000000000"),
            (SearchOptions { hands: 100_001, ..usual }, "hands=100001", "1 to 100000"),
            (
                SearchOptions { hands: usize::MAX, ..usual },
                "hands=18446744073709551615",
                "1 to 100000",
            ),
            (SearchOptions { depth: Some(0), ..usual }, "depth=0", "1 to 1000"),
            (limit(Duration::ZERO), "time_limit=0ns", "whole milliseconds, 1 to 1000000000"),
            (
                limit(Duration::from_micros(1_500)),
                "time_limit=1.5ms",
                "whole milliseconds, 1 to 1000000000",
            ),
            (
                limit(Duration::from_secs(2_000_000)),
                "time_limit=2000000s",
                "whole milliseconds, 1 to 1000000000",
            ),
            (single(f64::NAN), "threshold=NaN", "a number from 0 to 100"),
            (single(-0.5), "threshold=-0.5", "a number from 0 to 100"),
            (method(Method::Mirror { step: 0.0 }), "step=0", "a number above 0, up to 1000000"),
            (
                method(Method::Mirror { step: f64::INFINITY }),
                "step=inf",
                "a number above 0, up to 1000000",
            ),
        ];
        for (options, value, expected) in cases {
            let message = options.check_text().unwrap_err().to_string();
            assert_eq!(message, format!("{value} is not allowed: expected {expected}"));
        }
        assert_eq!(limit(Duration::from_millis(1)).check_text(), Ok(()));
        assert_eq!(limit(Duration::from_micros(1_500)).check(), Ok(()));
        let error = SearchOptions::read(&[("milliseconds", "-1")]).unwrap_err();
        assert_eq!(error.to_string(), "milliseconds=-1 is not allowed: expected 1 to 1000000000");
    }
}
