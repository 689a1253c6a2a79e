//! Players as they are stored: a text, and the weights of a policy.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::error::PlayerSpecError;
use super::player_spec::PlayerSpec;
use super::policy_source::NamedPolicy;
use crate::nn::{Policy, PolicyError, PolicyProblem, ShippedPolicy, load_policy, shipped_policy};

/// A player as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPlayer {
    text: String,
    policy: Option<StoredPolicy>,
}

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

impl StoredPlayer {
    /// The stored form of a player, who is not external.
    pub fn of(player: &PlayerSpec) -> StoredPlayer {
        let policy = player.named_policy().map(StoredPolicy::of);
        StoredPlayer { text: player.to_string(), policy }
    }

    /// The player.
    ///
    /// # Errors
    /// [`PlayerSpecError`] if the text names no player or a policy that is not stored, if the contents of
    /// a file are invalid, or if a shipped policy is another one in this version.
    pub fn load(&self) -> Result<PlayerSpec, PlayerSpecError> {
        let stored = self.policy.as_ref().map(StoredPolicy::load).transpose()?;
        let find = |source: &str| {
            stored.clone().ok_or_else(|| PolicyError::Refused {
                path: source.to_owned(),
                source: PolicyProblem::new("it is not stored with its player"),
            })
        };
        PlayerSpec::parse(&self.text, &find)
    }
}
