//! Loads policy files. Equal files in use share one policy.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, TryLockError, Weak};

use super::Policy;
use super::error::{PolicyError, PolicyProblem};
use super::shipped_policies::no_policy;

/// Maximum size of a policy file, so that a wrong path does not exhaust the memory.
const MAX_BYTES: u64 = 1 << 28;

/// The policies from files that are in use, so that bots of the same policy share its weights.
static IN_USE: Mutex<Vec<Weak<Policy>>> = Mutex::new(Vec::new());

/// Loads the policy of a file. If a policy of an equal file is in use, returns that one.
///
/// # Errors
/// [`PolicyError`] if the file cannot be read or is invalid.
pub fn read_policy(path: impl AsRef<Path>) -> Result<Arc<Policy>, PolicyError> {
    let path = path.as_ref();
    load_policy(&path.to_string_lossy(), &policy_bytes(path)?)
}

/// The policy of a file with these contents, shared like that of [`read_policy`]. The path is for
/// error messages.
///
/// # Errors
/// [`PolicyError`] if the contents are invalid.
pub fn load_policy(path: &str, bytes: &[u8]) -> Result<Arc<Policy>, PolicyError> {
    Ok(shared(Policy::of_file(path, bytes)?))
}

/// The contents of a policy file.
///
/// # Errors
/// [`PolicyError`] if the file cannot be read or is too large.
pub fn policy_bytes(path: &Path) -> Result<Vec<u8>, PolicyError> {
    let name = path.to_string_lossy();
    let unreadable = |error: std::io::Error| PolicyError::Unreadable {
        path: name.to_string(),
        source: PolicyProblem::unreadable(error),
        shipped: no_policy(&name),
    };
    // Checked before opening, which would block on a named pipe.
    let about = std::fs::metadata(path).map_err(unreadable)?;
    if !about.is_file() {
        return Err(unreadable(std::io::Error::other("not a file")));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        let text = format!("it has {} bytes: expected at most {MAX_BYTES}", about.len());
        let source = PolicyProblem::new(text);
        return Err(PolicyError::Refused { path: name.into_owned(), source });
    }
    Ok(bytes)
}

/// An equal policy that is in use, else this one. It is registered if no other thread holds the list.
fn shared(policy: Policy) -> Arc<Policy> {
    let is_same = |other: &Arc<Policy>| {
        other.checksum() == policy.checksum() && other.bytes() == policy.bytes()
    };
    // Without waiting: in a forked process a thread that is gone may hold it for ever.
    let mut in_use = match IN_USE.try_lock() {
        Ok(in_use) => in_use,
        Err(TryLockError::Poisoned(error)) => error.into_inner(),
        Err(TryLockError::WouldBlock) => return Arc::new(policy),
    };
    in_use.retain(|other| other.strong_count() > 0);
    if let Some(same) = in_use.iter().filter_map(Weak::upgrade).find(is_same) {
        return same;
    }
    let policy = Arc::new(policy);
    in_use.push(Arc::downgrade(&policy));
    policy
}
