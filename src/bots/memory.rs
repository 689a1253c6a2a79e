//! Memory and threads whose number a caller chooses: what runs out is an error, not the end of the
//! process.

use std::collections::TryReserveError;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle, yield_now};

/// More than sixteen games with all their bots allocate, the scratch memory of policies included.
const HEADROOM: usize = 1 << 22;

/// More than a new thread takes: its stack, its thread-local data, and a heap of its own, for which
/// the C library reserves 64 megabytes of addresses.
const THREAD: usize = 96 << 20;

/// A vector with room for so many elements.
pub fn with_room<T>(length: usize) -> Result<Vec<T>, TryReserveError> {
    let mut elements = Vec::new();
    elements.try_reserve_exact(length)?;
    Ok(elements)
}

/// Checks that there is memory for a few more games. Bots allocate in many places, which cannot
/// report that memory has run out, so whoever makes many games asks again and again.
pub fn check_headroom() -> Result<(), TryReserveError> {
    // Without `black_box` the compiler removes an allocation that nobody uses.
    std::hint::black_box(with_room::<u8>(HEADROOM)?);
    Ok(())
}

/// Checks that there is memory for a new thread. If it finds none for its signal stack or its
/// thread-local data, the standard library or the C library ends the process.
pub fn check_thread_room() -> Result<(), TryReserveError> {
    std::hint::black_box(with_room::<u8>(THREAD)?);
    Ok(())
}

/// Starts a thread and waits until it runs, so that no other thread takes its memory meanwhile.
pub fn start(name: String, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    check_thread_room()?;
    let runs = Arc::new(AtomicBool::new(false));
    let mark = runs.clone();
    let thread = Builder::new().name(name).spawn(move || {
        mark.store(true, Ordering::Relaxed);
        run();
    })?;
    wait_for(&runs);
    Ok(thread)
}

/// As [`start`], in a scope.
pub fn start_scoped<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    run: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    check_thread_room()?;
    let runs = Arc::new(AtomicBool::new(false));
    let mark = runs.clone();
    let thread = Builder::new().spawn_scoped(scope, move || {
        mark.store(true, Ordering::Relaxed);
        run()
    })?;
    wait_for(&runs);
    Ok(thread)
}

fn wait_for(runs: &AtomicBool) {
    while !runs.load(Ordering::Relaxed) {
        yield_now();
    }
}
