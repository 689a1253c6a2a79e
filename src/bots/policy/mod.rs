//! Trained policies: neural networks, read from safetensors files, that play as bots.
//!
//! A file holds the network's tensors, named as in the state dictionary of Python's
//! `starmine.torch.PolicyNetwork`, and under the key `starmine` of its metadata the JSON text of
//! what it plays and how it is built; see [`Policy::read`]. Everything in it is checked before
//! anything is believed.
//!
//! To ship a policy, add its file and its row in [`POLICIES`].

mod error;
mod features;
mod header;
mod layer;
mod network;
mod norm;
mod play;
mod read;
mod shipped;
#[cfg(test)]
mod tests;

pub use error::{PolicyError, PolicyProblem};
pub use network::PolicyScratch;
pub use play::PolicyBot;
pub use read::{Policy, policy_bytes};
pub use shipped::{POLICIES, ShippedPolicy, shipped_policy};
