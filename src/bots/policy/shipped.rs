//! The policies that are shipped: one row each.

use std::sync::{Arc, OnceLock};

use super::error::PolicyError;
use super::read::Policy;

/// A policy that is shipped, which goes by its name.
pub struct ShippedPolicy {
    /// The name, which stands wherever a bot's does.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Its file.
    pub bytes: &'static [u8],
    policy: OnceLock<Result<Arc<Policy>, PolicyError>>,
}

impl ShippedPolicy {
    /// A row of the table.
    #[must_use]
    pub const fn new(
        name: &'static str,
        summary: &'static str,
        bytes: &'static [u8],
    ) -> ShippedPolicy {
        ShippedPolicy { name, summary, bytes, policy: OnceLock::new() }
    }

    /// The policy, which is read once.
    ///
    /// # Errors
    /// [`PolicyError`] where the file is not one; a test reads them all.
    pub fn policy(&self) -> Result<Arc<Policy>, PolicyError> {
        let read = || match Policy::from_bytes(self.bytes) {
            Ok(policy) => Ok(Arc::new(policy)),
            Err(problem) => Err(PolicyError::Refused { path: self.name.to_owned(), problem }),
        };
        self.policy.get_or_init(read).clone()
    }
}

/// A row of the table.
macro_rules! shipped {
    ($name:literal, $summary:literal) => {
        ShippedPolicy::new(
            $name,
            $summary,
            include_bytes!(concat!("../../../python/starmine/policies/", $name, ".safetensors")),
        )
    };
}

/// All policies that are shipped; their cards lie beside their files.
pub static POLICIES: [ShippedPolicy; 8] = [
    shipped!("ippo-2p", "independent PPO in self-play, two players"),
    shipped!("ippo-3p", "independent PPO in self-play, three players"),
    shipped!("ippo-4p", "independent PPO in self-play, four players"),
    shipped!("ippo-5p", "independent PPO in self-play, five players"),
    shipped!("ippo-avalanche", "independent PPO in self-play, two players with the sixth suit"),
    shipped!("ippo-timed-display", "independent PPO in self-play, two players with timed display"),
    shipped!("ippo-mini", "independent PPO in self-play, two players with 3 colours and ranks"),
    shipped!("best-response-smart", "PPO beside smart, two players"),
];

/// The shipped policy of this name.
#[must_use]
pub fn shipped_policy(name: &str) -> Option<&'static ShippedPolicy> {
    POLICIES.iter().find(|policy| policy.name == name)
}

/// The names of all, for messages.
pub(super) fn known_policies() -> String {
    POLICIES.iter().map(|policy| policy.name).collect::<Vec<&str>>().join(", ")
}
