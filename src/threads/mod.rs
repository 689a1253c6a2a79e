//! Threads that share work: those of networks, games among bots, searches and batches.
//!
//! - `pool`: threads that wait for jobs
//! - `pieces`: how the threads of a job take pieces of work from each other
//! - `stop`: the flag that ends a long call early

mod pieces;
mod pool;
mod stop;

pub(crate) use pieces::{for_each_piece, locked, take_pieces};
pub use pool::MAX_THREADS;
pub(crate) use pool::Pool;
pub(crate) use stop::is_stopped;
pub(crate) use stop::{Stop, stoppable};
