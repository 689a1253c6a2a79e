#![doc = include_str!("../README.md")]

pub mod batch;
pub mod bots;
pub mod encode;
pub mod nn;
pub mod rules;
pub mod search;

#[cfg(feature = "python")]
mod bindings;
