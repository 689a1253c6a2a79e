//! Python arguments as Rust values: text, integers, lists.

pub mod listed;
pub mod numbers;
pub mod text;
