//! Expansion of packed rows by the instruction set of the kernel.

use std::mem::MaybeUninit;

#[cfg(target_arch = "x86_64")]
use crate::batch::kernel::lanes::{Avx2, Avx512};
use crate::batch::kernel::lanes::{Isa, Portable};
use crate::buffers::Element;
#[cfg(target_arch = "x86_64")]
use crate::buffers::expand::{Avx2Expander, Avx512Expander};
use crate::buffers::expand::{Bits, PortableExpander, expand};

/// The expansion by an instruction set.
pub trait Expand: Isa {
    /// Writes one element for each of the first `length` bits; with streaming stores if `STREAM` is
    /// set, after which the caller needs a [`fence`](crate::buffers::expand::fence).
    ///
    /// # Safety
    /// `row` is valid for writes of `length` elements, and `bits` has a word for each 64 of them.
    unsafe fn expand<E: Element, const STREAM: bool>(
        self,
        bits: impl Bits,
        row: *mut E,
        length: usize,
    );

    /// Writes one element for each bit of the words, and zeros past their end.
    #[inline(always)]
    fn expand_words<E: Element>(self, words: &[u64], row: &mut [MaybeUninit<E>]) {
        // SAFETY: the row is a whole slice, and a slice as `Bits` gives zeros past its end.
        unsafe { self.expand::<E, false>(words, row.as_mut_ptr().cast(), row.len()) }
    }
}

macro_rules! expand_by {
    ($($isa:ident: $expander:ident),+) => {
        $(impl Expand for $isa {
            #[inline(always)]
            unsafe fn expand<E: Element, const STREAM: bool>(self, bits: impl Bits, row: *mut E, length: usize) {
                // SAFETY: the token exists only if the processor has the instructions; the rest the
                // caller promises.
                unsafe { expand::<$expander, E, STREAM>(bits, row, length) }
            }
        })+
    };
}

expand_by! { Portable: PortableExpander }
#[cfg(target_arch = "x86_64")]
expand_by! { Avx2: Avx2Expander, Avx512: Avx512Expander }
