//! What one seat sees, and what it can infer.

pub(in crate::rules) mod belief;
pub(in crate::rules) mod seen_game;
pub(in crate::rules) mod table_facts;
pub(in crate::rules) mod view;
