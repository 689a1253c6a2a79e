//! Networks of trained policies: their inputs, their layers and their files.
//!
//! Start with [`read_policy`], which loads a [`Policy`] from a file, or with [`shipped_policy`]. To
//! let it play, name it where a bot's name goes, see [`PlayerSpec`](crate::players::PlayerSpec).
//!
//! A [`Policy`] is a network with the header of its file. It maps views to the logits of all actions
//! and a value, for any number of views at a time; [`Policy::BATCH_SIZE`] at a time are faster than
//! single ones. The outputs do not depend on that number, on the instruction set ([`InstructionSet`](crate::buffers::InstructionSet)) or
//! on the processor: each sum is added in the order of the inputs, without fused multiply-add.
//!
//! ```
//! # #[cfg(feature = "weights")] {
//! use starmine::nn::{PolicyScratch, shipped_policy};
//! use starmine::rules::{EpisodeSeed, State};
//!
//! let policy = shipped_policy("ippo-2p")?.policy()?;
//! let state = State::new(policy.variant().clone(), EpisodeSeed::default());
//! let view = state.view(state.current_player());
//! let outputs = policy.evaluate([view], &mut PolicyScratch::default())?;
//! for (action, logarithm) in outputs.log_probabilities(0) {
//!     println!("{:?} with probability {}", policy.variant().action_to_move(action)?, logarithm.exp());
//! }
//! println!("{} points are expected", outputs.value(0));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The network is by colour, which treats all colours alike: the features of each colour pass the same
//! layers, whose units are called the colour's tower, and the towers are pooled over the colours by
//! mean and maximum. Its training in `starmine.torch` uses the same features and the same pooling. All
//! other networks play through PyTorch, in the Python package.

mod color_feature_rows;
mod color_features;
mod color_network;
mod linear;
mod policy;
mod pooling;
mod real;
mod scratch;
mod sparse_rows;

pub(crate) use color_features::{CardWeights, ColorFeatures};
pub(crate) use color_network::ColorActions;
pub(crate) use policy::load_policy;
pub(crate) use policy::policy_bytes;
#[cfg(test)]
pub(crate) use policy::tests::{policy_file, small};
pub use policy::{
    MoveChoice, POLICIES, Policy, PolicyError, PolicyOutputs, PolicyProblem, ShippedPolicy,
    read_policy, shipped_policy,
};
pub(crate) use pooling::{Pooling, PoolingGradient, PoolingSize};
pub(crate) use real::Real;
pub use scratch::PolicyScratch;
