//! Observations: packed rows, their expansion to elements, and the rows that are written.

pub mod features;
pub mod packed_rows;
pub mod write;
