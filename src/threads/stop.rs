//! The flag that ends a call early.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the flag is set that ends a call early.
#[must_use]
pub fn is_set(stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed)
}
