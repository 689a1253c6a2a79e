//! Threads that share work. The lowest layer, since networks, bots, search and batches all need it.
//!
//! - `pool`: threads that wait for jobs
//! - `share`: how the threads of a job take pieces of work from each other, and the flag that ends
//!   a call early

mod pool;
mod share;

pub use pool::{MAX_THREADS, ThreadsError};
pub(crate) use pool::{Pool, wait_until};
pub(crate) use share::{is_set, locked, share, take_pieces};
