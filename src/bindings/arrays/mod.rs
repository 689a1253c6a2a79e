//! numpy arrays: checks, access to their memory, copies of small ones, packed bits as elements,
//! and vectors whose length a caller chooses.

pub mod check;
pub mod claims;
pub mod copies;
pub mod numbers;
pub mod unpack;
pub mod vectors;
