//! The variants: their numbers, switches, presets and tables.

pub(in crate::rules) mod action_ids;
pub(in crate::rules) mod edition;
pub(in crate::rules) mod parameters;
pub(in crate::rules) mod presets;
#[cfg(test)]
pub(in crate::rules) mod random_variant;
pub(in crate::rules) mod rating;
pub(in crate::rules) mod switches;
pub(in crate::rules) mod tables;
pub(in crate::rules) mod unsupported_variant;
pub(in crate::rules) mod variant;
mod variant_text;
