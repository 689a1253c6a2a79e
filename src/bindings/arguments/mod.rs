//! Python arguments as Rust values: text, integers, keywords.

pub mod keywords;
pub mod numbers;
pub mod text;
