//! Players as they are stored: their texts, and apart from them the weights of their policies.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::error::PlayerSpecError;
use super::player_spec::PlayerSpec;
use super::policy_source::NamedPolicy;
use crate::nn::{Policy, PolicyError, PolicyProblem, ShippedPolicy, load_policy, shipped_policy};
use crate::rules::UnknownNameError;

/// The policies of stored players. The text of a player names its policy by the index in this list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPolicies(Vec<StoredPolicy>);

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct StoredPolicy {
    /// The path of its file, or its name if it is shipped.
    source: String,
    weights: Weights,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Weights {
    /// Those of the shipped policy; the CRC-32 of its file.
    Shipped(u32),
    /// The contents of the file.
    File(Vec<u8>),
}

impl std::fmt::Debug for StoredPolicy {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "StoredPolicy({:?})", self.source)
    }
}

impl StoredPolicy {
    fn of(named: &NamedPolicy) -> StoredPolicy {
        let weights = if named.is_shipped() {
            Weights::Shipped(named.policy.checksum())
        } else {
            Weights::File(named.policy.bytes().to_vec())
        };
        StoredPolicy { source: named.source.clone(), weights }
    }

    fn load(&self) -> Result<(String, Arc<Policy>), PolicyError> {
        let StoredPolicy { source, weights } = self;
        let policy = match weights {
            Weights::File(bytes) => load_policy(source, bytes)?,
            Weights::Shipped(expected) => {
                let shipped = shipped_policy(source).ok();
                let policy = shipped.map(ShippedPolicy::policy).transpose()?;
                let same = policy.filter(|policy| policy.checksum() == *expected);
                same.ok_or_else(|| PolicyError::OtherVersion {
                    name: source.clone(),
                    expected: *expected,
                })?
            }
        };
        Ok((source.clone(), policy))
    }
}

impl StoredPolicies {
    /// Adds the policy of a player. Returns the player's text, in which a number stands for the
    /// policy.
    pub fn store(&mut self, player: &PlayerSpec) -> String {
        let Some(named) = player.named_policy() else { return player.to_string() };
        let policy = StoredPolicy::of(named);
        let place = self.0.iter().position(|known| *known == policy).unwrap_or_else(|| {
            self.0.push(policy);
            self.0.len() - 1
        });
        player.with_source(&place.to_string()).to_string()
    }

    /// Loads the policies. Returns a function that reads the text of a player, in which a number stands
    /// for the policy.
    ///
    /// # Errors
    /// [`PolicyError`] if the contents of a file are invalid, or if a shipped policy is another one
    /// in this version. The function returns [`PlayerSpecError`] if the text names no player, or a
    /// policy that is not stored.
    pub fn load(
        &self,
    ) -> Result<impl Fn(&str) -> Result<PlayerSpec, PlayerSpecError>, PolicyError> {
        let policies: Vec<_> = self.0.iter().map(StoredPolicy::load).collect::<Result<_, _>>()?;
        let find = move |place: &str| {
            let policy = place.parse().ok().and_then(|place: usize| policies.get(place));
            policy.cloned().ok_or_else(|| PolicyError::Unreadable {
                path: place.to_owned(),
                source: PolicyProblem::new("it is not stored with its player"),
                shipped: UnknownNameError::new("policy", place, ["0"]),
            })
        };
        Ok(move |text: &str| PlayerSpec::parse(text, &find))
    }
}
