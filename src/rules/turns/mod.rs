//! Moves and hints, which of them are legal, what they do, and how they are written.

pub(in crate::rules) mod ending;
pub(in crate::rules) mod event;
pub(in crate::rules) mod hint;
pub(in crate::rules) mod legality;
pub(in crate::rules) mod moves;
pub(in crate::rules) mod notation;
