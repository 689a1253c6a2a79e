//! The flag that ends a long call early.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The flag of a call. Whoever waits for the call sets it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

thread_local! {
    /// The flag of the call that this thread works for; `None` for a call that nothing ends.
    static CURRENT: RefCell<Option<Stop>> = const { RefCell::new(None) };
}

impl Stop {
    /// Ends the call: its threads take no further pieces of work, and its result means nothing.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// The flag of the call that this thread works for.
    pub fn current() -> Option<Stop> {
        CURRENT.with_borrow(Clone::clone)
    }
}

/// Makes a call, on this thread, that ends early once its flag is set. Threads of a
/// [`Pool`](super::Pool) that help with the call obey the same flag.
pub fn stoppable<T>(stop: Option<Stop>, call: impl FnOnce() -> T) -> T {
    /// Puts the flag of the outer call back, also after a panic.
    struct Outer(Option<Stop>);

    impl Drop for Outer {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }

    let _outer = Outer(CURRENT.replace(stop));
    call()
}

/// Whether the call that this thread works for is to end.
#[must_use]
pub fn is_stopped() -> bool {
    let is_set = |stop: &Stop| stop.0.load(Ordering::Relaxed);
    CURRENT.with_borrow(|stop| stop.as_ref().is_some_and(is_set))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::Pool;

    #[test]
    fn the_flag_of_a_call_reaches_its_threads_and_ends_with_it() {
        let (stop, mut pool) = (Stop::default(), Pool::new(3).unwrap());
        assert!(!is_stopped());
        stoppable(Some(stop.clone()), || {
            pool.run(|_| assert!(!is_stopped()));
            stop.set();
            pool.run(|_| assert!(is_stopped()));
            stoppable(None, || assert!(!is_stopped()));
            assert!(is_stopped());
        });
        pool.run(|_| assert!(!is_stopped()));
    }
}
