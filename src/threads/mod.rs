//! Threads that share work: those of networks, games among bots, searches and batches.
//!
//! - `pool`: threads that wait for jobs
//! - `share`: how the threads of a job take pieces of work from each other
//! - `stop`: the flag that ends a long call early

mod pool;
mod share;
mod stop;

pub use pool::MAX_THREADS;
pub(crate) use pool::Pool;
pub(crate) use share::{locked, share, take_pieces};
pub(crate) use stop::is_stopped;
pub(crate) use stop::{Stop, stoppable};
