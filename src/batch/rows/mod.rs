//! Observations: packed rows, their expansion to elements, and the rows that are written.

pub mod colors;
pub mod expand;
pub mod features;
pub mod packed;
pub mod unpack;
pub mod write;
