//! Memory that calls use: what one buffer writes belongs to no other, of the same call or of another
//! at the same time.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use super::errors::ArrayError;

/// The most buffers of one call.
pub(super) const MOST: usize = 11;

/// The memory of all buffers of a call, by addresses: numpy's owners of arrays do not tell, since
/// arrays of different owners may share memory all the same.
#[derive(Clone, Copy)]
pub(super) struct Claims {
    claims: [Claim; MOST],
    count: usize,
}

#[derive(Clone, Copy)]
struct Claim {
    name: &'static str,
    start: usize,
    end: usize,
    /// Else it is only read, and others may read it too.
    writes: bool,
}

impl Claim {
    const NONE: Claim = Claim { name: "", start: 0, end: 0, writes: false };

    /// Whether there is memory that one of them writes and the other uses.
    const fn excludes(&self, other: &Claim) -> bool {
        (self.writes || other.writes) && self.start < other.end && other.start < self.end
    }
}

/// What the calls that have released the interpreter use now. It is locked for a few comparisons
/// at a time, in which nothing of Python runs.
static IN_USE: Mutex<Vec<Claims>> = Mutex::new(Vec::new());

fn in_use() -> MutexGuard<'static, Vec<Claims>> {
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Claims {
    pub const fn none() -> Claims {
        Claims { claims: [Claim::NONE; MOST], count: 0 }
    }

    fn all(&self) -> &[Claim] {
        &self.claims[..self.count]
    }

    /// Adds a buffer that is written.
    pub fn claim(&mut self, name: &'static str, memory: Range<usize>) {
        self.add(Claim { name, start: memory.start, end: memory.end, writes: true });
    }

    /// Adds memory that is read.
    pub fn claim_to_read(&mut self, name: &'static str, memory: Range<usize>) {
        self.add(Claim { name, start: memory.start, end: memory.end, writes: false });
    }

    fn add(&mut self, claim: Claim) {
        self.claims[self.count] = claim;
        self.count += 1;
    }

    /// Refuses memory that one buffer writes and another uses.
    fn check_apart(&self) -> PyResult<()> {
        for (index, Claim { name, .. }) in self.all().iter().enumerate() {
            let mut before = self.all()[..index].iter();
            if let Some(other) = before.find(|other| self.all()[index].excludes(other)) {
                let other = other.name;
                return Err(ArrayError::new_err(format!(
                    "{name} overlaps {other}: expected separate memory"
                )));
            }
        }
        Ok(())
    }

    /// Whether both are of the same memory for the same uses.
    fn is_like(&self, other: &Claims) -> bool {
        let memory = |claim: &Claim| (claim.start, claim.end, claim.writes);
        self.all().iter().map(memory).eq(other.all().iter().map(memory))
    }

    fn check(&self, in_use: &[Claims]) -> PyResult<()> {
        for other in in_use.iter().flat_map(Claims::all) {
            if let Some(Claim { name, writes, .. }) =
                self.all().iter().find(|own| own.excludes(other))
            {
                let problem = if *writes {
                    "overlaps another array in use: expected separate memory"
                } else {
                    "is being written by another call"
                };
                return Err(ArrayError::new_err(format!("{name} {problem}")));
            }
        }
        Ok(())
    }

    /// Makes the memory the call's own as long as the result lives. A call that keeps the
    /// interpreter is in nobody's list: no other can begin before its end.
    ///
    /// `known` are the claims of an earlier call, which did not overlap each other: of the same memory
    /// that need not be found again, which takes a tenth of a step of one game. They become these.
    pub fn hold(&self, known: &mut Claims, keeps_interpreter: bool) -> PyResult<Held> {
        if !self.is_like(known) {
            self.check_apart()?;
            *known = *self;
        }
        let mut in_use = in_use();
        self.check(&in_use)?;
        if keeps_interpreter {
            return Ok(Held(None));
        }
        in_use.push(*self);
        Ok(Held(Some(self.key())))
    }

    /// The first address that is written, which no other call in the list has; 0 for calls that
    /// write nothing.
    fn key(&self) -> usize {
        self.all().iter().find(|claim| claim.writes).map_or(0, |claim| claim.start)
    }
}

/// The memory that a running call may use.
#[must_use]
pub(super) struct Held(Option<usize>);

impl Drop for Held {
    fn drop(&mut self) {
        let Some(key) = self.0 else { return };
        let mut in_use = in_use();
        if let Some(index) = in_use.iter().position(|claims| claims.key() == key) {
            in_use.swap_remove(index);
        }
    }
}

/// Whether a call that has released the interpreter writes any of this memory.
pub(super) fn is_written(memory: Range<usize>) -> bool {
    let memory = Claim { name: "", start: memory.start, end: memory.end, writes: false };
    in_use().iter().flat_map(Claims::all).any(|claim| claim.excludes(&memory))
}
