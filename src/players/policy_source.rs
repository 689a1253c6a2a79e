//! A policy as the text of a player names it: where its weights are from, and how it moves.

use std::fmt;
use std::sync::Arc;

use crate::nn::{MoveChoice, Policy, PolicyError, read_policy, shipped_policy};

/// Prefix of a policy's text. A shipped policy may also stand without it.
pub(super) const POLICY_PREFIX: &str = "policy:";
/// Suffix, after a semicolon, of a policy that samples its moves.
const SAMPLED: &str = "sampled";

/// A loaded policy and whether it samples its moves. If its file changes later, the weights stay.
#[derive(Clone)]
pub(super) struct NamedPolicy {
    /// The path of its file, or its name if it is shipped.
    pub source: String,
    pub policy: Arc<Policy>,
    pub choice: MoveChoice,
}

/// Finds a policy by what stands for it in a text: its path or name, and its weights.
pub(super) type FindPolicy<'a> = dyn Fn(&str) -> Result<(String, Arc<Policy>), PolicyError> + 'a;

/// Finds a policy that is shipped or in a file.
///
/// # Errors
/// [`PolicyError`] if the file cannot be read or is invalid.
pub(super) fn find_policy(source: &str) -> Result<(String, Arc<Policy>), PolicyError> {
    if let Ok(shipped) = shipped_policy(source) {
        return Ok((source.to_owned(), shipped.policy()?));
    }
    let path = serde_json::from_str(source).unwrap_or_else(|_| source.to_owned());
    let policy = read_policy(&path)?;
    Ok((path, policy))
}

impl NamedPolicy {
    /// Whether it is the shipped policy of its name.
    pub fn is_shipped(&self) -> bool {
        shipped_policy(&self.source).is_ok_and(|shipped| shipped.bytes == self.policy.bytes())
    }

    /// Parses the text after the prefix.
    pub fn parse(text: &str, find: &FindPolicy<'_>) -> Result<NamedPolicy, PolicyError> {
        let (source, choice) = match text.rsplit_once(';') {
            Some((source, option)) if option.trim() == SAMPLED => {
                (source.trim(), MoveChoice::Sampled)
            }
            _ => (text.trim(), MoveChoice::Greedy),
        };
        let (source, policy) = find(source)?;
        Ok(NamedPolicy { source, policy, choice })
    }
}

impl fmt::Display for NamedPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NamedPolicy { source, choice, .. } = self;
        let (is_shipped, is_sampled) = (self.is_shipped(), *choice == MoveChoice::Sampled);
        if is_shipped && !is_sampled {
            return formatter.write_str(source);
        }
        write!(formatter, "{POLICY_PREFIX} ")?;
        let is_plain = source.trim() == source
            && !source.contains(';')
            && !source.starts_with('"')
            && (is_shipped || shipped_policy(source).is_err());
        if is_plain {
            formatter.write_str(source)?;
        } else {
            let quoted = serde_json::to_string(source).map_err(|_| fmt::Error)?;
            formatter.write_str(&quoted.replace(';', "\\u003b"))?;
        }
        if is_sampled { write!(formatter, "; {SAMPLED}") } else { Ok(()) }
    }
}

impl fmt::Debug for NamedPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "NamedPolicy({self})")
    }
}
