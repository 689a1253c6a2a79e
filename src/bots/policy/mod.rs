//! Trained policies: neural networks from safetensors files, which play as bots.
//!
//! A file contains the tensors, named as in the state dictionary of Python's
//! `starmine.torch.PolicyNetwork`. Its metadata has a JSON header under the key `starmine`, which
//! describes the variant, the encoder and the architecture; see [`Policy`]. A file is fully
//! validated before use.
//!
//! To ship a policy, add its file and its row in [`POLICIES`].

mod any_network;
mod card_features;
mod choice;
mod color_network;
mod error;
mod header;
mod layer_norm;
mod limits;
mod linear;
mod load;
mod model;
mod network;
mod policy_bot;
mod range;
mod rows;
mod scratch;
mod shipped;
mod tensors;
#[cfg(test)]
mod tests;

pub use color_network::ColorActions;
pub use error::{PolicyError, PolicyProblem};
pub use load::{load_policy, policy_bytes, read_policy};
pub use model::Policy;
pub use policy_bot::PolicyBot;
pub use rows::PolicyRows;
pub use scratch::PolicyScratch;
pub use shipped::{POLICIES, ShippedPolicy, shipped_policy};
