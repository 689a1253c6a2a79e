//! Python arguments as Rust values: text, integers.

pub mod numbers;
pub mod text;
