//! The one door to the memory of numpy arrays. A call claims the arrays that it reads or writes, and then
//! gets their memory as slices. What a call writes, no other array of that call and no other call that
//! runs at the same time may use.
//!
//! The claims are ranges of addresses. The borrow flags of the `numpy` crate compare the owners of the
//! memory, and arrays of different owners can share memory: views of one tensor, or two `np.frombuffer`.
//! They also take longer: 760 ns for the 11 arrays of a step, where claims take 139 ns (Xeon).

use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use super::check::CheckedArray;
use super::numbers::Number;
use crate::bindings::errors::ArrayError;
use crate::bindings::process::forks;
use crate::buffers::WriteOnly;

/// How a call that has released the interpreter uses the memory of an array.
#[derive(Clone, Copy)]
struct Use {
    /// The value of `forks` when the call began. A child that was forked meanwhile has a copy of the
    /// memory, and no thread that would ever end the call.
    forks: u32,
    call: u64,
    start: usize,
    end: usize,
    writes: bool,
}

/// What the calls that have released the interpreter use now. The lock is held for a few comparisons
/// at a time, during which no Python code runs: so it is free whenever Python forks.
struct RunningCalls {
    uses: Vec<Use>,
    /// The number of the next call.
    next: u64,
}

fn running_calls() -> MutexGuard<'static, RunningCalls> {
    static CALLS: Mutex<RunningCalls> = Mutex::new(RunningCalls { uses: Vec::new(), next: 0 });
    let mut running = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
    let forks = forks();
    running.uses.retain(|other| other.forks == forks);
    running
}

/// An array of a call.
#[derive(Clone, Copy)]
struct Claim<'a> {
    array: CheckedArray<'a>,
    writes: bool,
    /// Whether the array may share memory with others, which a new array of our own does not.
    is_shared: bool,
}

impl Claim<'_> {
    /// Whether one of two uses writes memory of both. Without short circuits, since a mispredicted
    /// branch costs more than the comparisons.
    #[inline]
    const fn excludes(&self, start: usize, end: usize, writes: bool) -> bool {
        (self.writes | writes) & (self.array.start < end) & (start < self.array.end)
    }

    const fn memory(&self) -> (usize, usize, bool) {
        (self.array.start, self.array.end, self.writes)
    }
}

/// Whether other threads may run Python code while a call uses its arrays.
#[derive(Clone, Copy, PartialEq)]
pub enum Interpreter {
    Kept,
    Released,
}

impl Interpreter {
    pub const fn kept_if(is_kept: bool) -> Interpreter {
        if is_kept { Interpreter::Kept } else { Interpreter::Released }
    }
}

/// The arrays of one call and how it uses them; `None` for a parameter that was not given.
pub struct Claims<'a, const N: usize>([Option<Claim<'a>>; N]);

impl<'a, const N: usize> Claims<'a, N> {
    pub const fn none() -> Claims<'a, N> {
        Claims([None; N])
    }

    /// Claims an array for writing.
    pub fn write(&mut self, index: usize, array: CheckedArray<'a>) {
        self.0[index] = Some(Claim { array, writes: true, is_shared: true });
    }

    /// Claims a new array for writing, to which nobody else has a reference.
    pub fn write_own(&mut self, index: usize, array: CheckedArray<'a>) {
        self.0[index] = Some(Claim { array, writes: true, is_shared: false });
    }

    /// Claims an array for reading.
    pub fn read(&mut self, index: usize, array: CheckedArray<'a>) {
        self.0[index] = Some(Claim { array, writes: false, is_shared: true });
    }

    /// The arrays that may share memory with others.
    fn shared(&self) -> impl Iterator<Item = &Claim<'a>> + Clone {
        self.0.iter().flatten().filter(|claim| claim.is_shared)
    }

    /// Checks that no array of the call is written where another is used.
    fn check_disjoint(&self) -> PyResult<()> {
        for (index, own) in self.shared().enumerate() {
            let CheckedArray { name, start, end, .. } = own.array;
            let mut before = self.shared().take(index);
            if let Some(other) = before.find(|other| other.excludes(start, end, own.writes)) {
                let other = other.array.name;
                return Err(ArrayError::new_err(format!(
                    "{name} overlaps {other}: expected separate memory"
                )));
            }
        }
        Ok(())
    }

    /// Reserves the memory for the call as long as the result lives. A call that keeps the
    /// interpreter need not be listed: no other can begin before its end.
    pub fn reserve(&mut self, interpreter: Interpreter) -> PyResult<Reservation<'_, 'a, N>> {
        self.check_disjoint()?;
        let mut running = running_calls();
        self.check_unused(&running)?;
        if interpreter == Interpreter::Kept {
            return Ok(Reservation { claims: self, call: None });
        }
        let (call, forks) = (running.next, forks());
        running.next += 1;
        // New arrays as well: Python can get one from a weak reference while the call runs.
        running.uses.extend(self.0.iter().flatten().map(|claim| {
            let (start, end, writes) = claim.memory();
            Use { forks, call, start, end, writes }
        }));
        Ok(Reservation { claims: self, call: Some(call) })
    }

    fn check_unused(&self, running: &RunningCalls) -> PyResult<()> {
        for other in &running.uses {
            let mut own = self.0.iter().flatten();
            if let Some(own) = own.find(|own| own.excludes(other.start, other.end, other.writes)) {
                let problem = if own.writes {
                    "overlaps another array in use: expected separate memory"
                } else {
                    "is being written by another call"
                };
                return Err(ArrayError::new_err(format!("{} {problem}", own.array.name)));
            }
        }
        Ok(())
    }
}

/// Memory that is reserved for a running call.
pub struct Reservation<'c, 'a, const N: usize> {
    claims: &'c Claims<'a, N>,
    /// The call's number if it has released the interpreter.
    call: Option<u64>,
}

impl<const N: usize> Reservation<'_, '_, N> {
    /// The memory of each array, to be turned into a slice once.
    #[inline]
    pub fn memory(&mut self) -> [Option<Memory<'_>>; N] {
        let memory = |Claim { array, writes, .. }| Memory { array, writes, reserved: PhantomData };
        std::array::from_fn(|index| self.claims.0[index].map(memory))
    }
}

impl<const N: usize> Drop for Reservation<'_, '_, N> {
    fn drop(&mut self) {
        if let Some(own) = self.call {
            running_calls().uses.retain(|other| other.call != own);
        }
    }
}

/// The memory of one array of a running call. It cannot be copied, so that there is one slice of it.
pub struct Memory<'b> {
    array: CheckedArray<'b>,
    writes: bool,
    reserved: PhantomData<&'b mut u8>,
}

impl<'b> Memory<'b> {
    /// The elements, to be written. Those of a new array are uninitialised, and the bytes of bools may have been
    /// set to anything: so they are not read.
    pub fn write<T: Number>(self) -> WriteOnly<'b, T> {
        assert!(self.writes, "claimed to be written");
        let (start, length) = self.elements::<T>();
        // SAFETY: `elements` names elements of `T`. `reserve` found that no other call of this crate uses them
        // meanwhile, and `Reservation::memory` gives them out once. Python code of other threads must leave them
        // alone; `elements` says why this cannot be enforced. Any byte is a `MaybeUninit`.
        WriteOnly::uninit(unsafe { std::slice::from_raw_parts_mut(start.cast(), length) })
    }

    /// The numbers, to be read.
    ///
    /// # Panics
    /// If the array has another type, or holds bools: their bytes may have been set to anything.
    pub fn read<T: Number>(self) -> &'b [T] {
        assert!(T::TYPE.number != bool::TYPE.number, "bools are read as bytes");
        let (start, length) = self.elements();
        // SAFETY: `elements` names elements of `T`. `reserve` found that no other call of this crate writes them
        // meanwhile; Python code of other threads must not, as `elements` says. Every pattern of bits is a
        // number.
        unsafe { std::slice::from_raw_parts(start, length) }
    }

    /// The address and the number of the elements, which are aligned and live for `'b`. numpy allocates them
    /// where the compiler does not see it, so that elements that were never written have arbitrary values.
    ///
    /// Python code of another thread can still write the elements while a call has released the
    /// interpreter, or free them by `resize(refcheck=False)`: no lock of numpy, Python or ours prevents it.
    ///
    /// # Panics
    /// If the elements are not `T`.
    fn elements<T: Number>(&self) -> (*mut T, usize) {
        assert!(self.array.dtype.is_some_and(|dtype| dtype.number == T::TYPE.number));
        match self.array.bytes() / size_of::<T>() {
            0 => (std::ptr::dangling_mut(), 0), // numpy's address may be null
            length => (std::ptr::with_exposed_provenance_mut(self.array.start), length),
        }
    }
}
