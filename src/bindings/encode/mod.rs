//! Observations: their layout, and the rows of seats in single games.

pub mod features;
pub mod layout;
pub mod view_rows;
