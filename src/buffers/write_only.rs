//! Memory that is written and never read.

use std::mem::MaybeUninit;

/// A slice of the caller's whose elements are written and never read: its memory may be uninitialised, or hold
/// bytes that are no `bool`.
#[derive(Debug)]
pub struct WriteOnly<'a, T>(&'a mut [MaybeUninit<T>]);

impl<'a, T: Copy> WriteOnly<'a, T> {
    /// The elements of a slice.
    pub fn new(elements: &'a mut [T]) -> WriteOnly<'a, T> {
        let (start, length) = (elements.as_mut_ptr().cast(), elements.len());
        // SAFETY: the same memory for the same time. Only elements of `T` are written to it: the slice is private,
        // and nothing of this crate writes `MaybeUninit::uninit()` to `elements`.
        WriteOnly(unsafe { std::slice::from_raw_parts_mut(start, length) })
    }

    /// The elements of memory that may be uninitialised. They are initialised once they have been written.
    pub const fn uninit(elements: &'a mut [MaybeUninit<T>]) -> WriteOnly<'a, T> {
        WriteOnly(elements)
    }

    /// The number of elements.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no element.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same elements for a shorter time.
    pub const fn lend(&mut self) -> WriteOnly<'_, T> {
        WriteOnly(self.0)
    }

    /// Splits off the first elements.
    pub(crate) fn split_at(self, middle: usize) -> (WriteOnly<'a, T>, WriteOnly<'a, T>) {
        let (first, second) = self.0.split_at_mut(middle);
        (WriteOnly(first), WriteOnly(second))
    }

    /// The elements, to be written and not to be read.
    #[inline(always)]
    pub(crate) const fn elements(self) -> &'a mut [MaybeUninit<T>] {
        self.0
    }
}

/// As [`WriteOnly::new`].
impl<'a, T: Copy> From<&'a mut [T]> for WriteOnly<'a, T> {
    fn from(elements: &'a mut [T]) -> WriteOnly<'a, T> {
        WriteOnly::new(elements)
    }
}

/// Elements to be written. Not `map`, which is not inlined in every build.
#[inline(always)]
pub const fn initialised<T: Copy, const N: usize>(elements: [T; N]) -> [MaybeUninit<T>; N] {
    // SAFETY: both types have the same layout.
    unsafe { (&raw const elements).cast::<[MaybeUninit<T>; N]>().read() }
}

/// Initialises elements, so that they can also be read.
pub fn filled<T: Copy>(elements: &mut [MaybeUninit<T>], value: T) -> &mut [T] {
    elements.fill(MaybeUninit::new(value));
    let (start, length) = (elements.as_mut_ptr().cast(), elements.len());
    // SAFETY: the same memory for the same time, and every element was written.
    unsafe { std::slice::from_raw_parts_mut(start, length) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffers::{InstructionSet, unpack_bits};

    #[test]
    fn uninitialised_memory_is_written_without_being_read() {
        let mut memory = [MaybeUninit::<bool>::uninit(); 6];
        let bits = [0b101, 0, 0, 0, 0, 0, 0, 0, 0b010, 0, 0, 0, 0, 0, 0, 0];
        unpack_bits(InstructionSet::PORTABLE, &bits, 3, WriteOnly::uninit(&mut memory), 1).unwrap();
        // SAFETY: an element was written for each of the six bits.
        let found = memory.map(|element| unsafe { element.assume_init() });
        assert_eq!(found, [true, false, true, false, true, false]);
    }

    #[test]
    fn filled_elements_can_be_read() {
        let mut memory = [MaybeUninit::<i8>::uninit(); 3];
        assert_eq!(filled(&mut memory, -1), [-1; 3]);
    }
}
