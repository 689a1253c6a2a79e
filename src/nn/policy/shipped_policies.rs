//! The shipped policies: one row each. Their weights are compiled in, so that the Rust crate and
//! the Python package need no files at run time; without the feature `weights` there are none.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::Policy;
use super::error::PolicyError;
use crate::rules::UnknownNameError;

/// A shipped policy.
pub struct ShippedPolicy {
    /// The name, which is valid wherever a bot's name is.
    pub name: &'static str,
    /// One line of description.
    pub summary: &'static str,
    /// The contents of its file.
    pub bytes: &'static [u8],
    policy: OnceLock<Arc<Policy>>,
}

impl fmt::Debug for ShippedPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ShippedPolicy").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ShippedPolicy {
    /// A row of the table.
    #[cfg(feature = "weights")]
    const fn new(name: &'static str, summary: &'static str, bytes: &'static [u8]) -> ShippedPolicy {
        ShippedPolicy { name, summary, bytes, policy: OnceLock::new() }
    }

    /// The policy, parsed on the first call.
    ///
    /// # Errors
    /// [`PolicyError`] if the instruction set that the environment names is not possible.
    pub fn policy(&self) -> Result<Arc<Policy>, PolicyError> {
        if let Some(policy) = self.policy.get() {
            return Ok(policy.clone());
        }
        let policy = Policy::of_file(self.name, self.bytes)?;
        Ok(self.policy.get_or_init(|| Arc::new(policy)).clone())
    }
}

/// A row of the table.
#[cfg(feature = "weights")]
macro_rules! shipped {
    ($name:literal, $summary:literal) => {
        ShippedPolicy::new(
            $name,
            $summary,
            include_bytes!(concat!("../../../python/starmine/policies/", $name, ".safetensors")),
        )
    };
}

/// All shipped policies; none without the feature `weights`. Their model cards are next to their
/// files.
pub static POLICIES: &[ShippedPolicy] = &SHIPPED;

#[cfg(not(feature = "weights"))]
static SHIPPED: [ShippedPolicy; 0] = [];

#[cfg(feature = "weights")]
static SHIPPED: [ShippedPolicy; 17] = [
    shipped!("ippo-2p", "independent PPO in self-play, two players"),
    shipped!("ippo-3p", "independent PPO in self-play, three players"),
    shipped!("ippo-4p", "independent PPO in self-play, four players"),
    shipped!("ippo-5p", "independent PPO in self-play, five players"),
    shipped!("ippo-2p-small", "the same, two players, a small network for partners"),
    shipped!("ippo-3p-small", "the same, three players, a small network for partners"),
    shipped!("ippo-4p-small", "the same, four players, a small network for partners"),
    shipped!("ippo-5p-small", "the same, five players, a small network for partners"),
    shipped!("ippo-avalanche", "independent PPO in self-play, two players with the sixth suit"),
    shipped!("ippo-timed-display", "independent PPO in self-play, two players with timed display"),
    shipped!(
        "ippo-crowning-piece",
        "independent PPO in self-play, two players with the crowning piece"
    ),
    shipped!(
        "ippo-traditional",
        "independent PPO in self-play, two players with traditional cards"
    ),
    shipped!("ippo-mini", "independent PPO in self-play, two players with 3 colours and ranks"),
    shipped!("best-response-smart", "PPO beside smart, two players"),
    shipped!("obl1-2p", "off-belief learning, level 1, two players: hints mean what the rules say"),
    shipped!("obl2-2p", "off-belief learning, level 2, two players: moves mean what level 1 says"),
    shipped!("obl4-2p", "off-belief learning, level 4, two players: moves mean what level 3 says"),
];

/// The shipped policy of this name.
///
/// # Errors
/// [`UnknownNameError`] if there is none.
pub fn shipped_policy(name: &str) -> Result<&'static ShippedPolicy, UnknownNameError> {
    let policy = POLICIES.iter().find(|policy| policy.name == name);
    policy.ok_or_else(|| no_policy(name))
}

/// The error for a name or a path that no policy has.
pub(super) fn no_policy(name: &str) -> UnknownNameError {
    UnknownNameError::new("policy", name, POLICIES.iter().map(|policy| policy.name))
}
