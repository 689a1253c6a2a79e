#![doc = include_str!("../README.md")]
// The upper layers use more of the lower ones than these do themselves.
#![cfg_attr(not(feature = "batch"), allow(dead_code, unused_imports))]

#[cfg(feature = "batch")]
pub mod batch;
#[cfg(feature = "bots")]
pub mod bots;
pub mod encode;
#[cfg(feature = "bots")]
pub mod nn;
pub mod rules;
#[cfg(feature = "bots")]
pub mod search;

#[cfg(feature = "python")]
mod bindings;
