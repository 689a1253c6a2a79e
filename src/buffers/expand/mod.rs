//! Expansion of packed bits to one element for each bit.
//!
//! [`expand`] takes the token of an instruction set and is always inlined into the task that calls it, which is
//! compiled for the instruction set.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
#[cfg(test)]
mod tests;

use std::mem::MaybeUninit;

use half::{bf16, f16};

/// An element type of unpacked bits, with zero or one for each bit. [`Dtype`](crate::batch::Dtype) lists those of
/// observations. No other types implement it.
pub trait Element: pattern::BitPattern {}

mod pattern {
    /// # Safety
    /// The type has a size of 1, 2 or 4 bytes and the same alignment. All zeros and the lowest bytes
    /// of `ONE` are valid values.
    pub unsafe trait BitPattern: Copy + Default + Send + Sync + 'static {
        /// The name of the type.
        const NAME: &'static str;

        /// The bit pattern of one; zero is all zeros.
        const ONE: u32;
    }
}

macro_rules! elements {
    ($($type:ty: $name:literal, $one:expr);+ $(;)?) => {
        $(
            // SAFETY: a number of 1, 2 or 4 bytes or a bool, and its bit pattern of one.
            unsafe impl pattern::BitPattern for $type {
                const NAME: &'static str = $name;

                const ONE: u32 = $one;
            }

            impl Element for $type {}
        )+
    };
}

elements! {
    f32: "float32", 1f32.to_bits();
    f16: "float16", f16::ONE.to_bits() as u32;
    bf16: "bfloat16", bf16::ONE.to_bits() as u32;
    u8: "uint8", 1;
    bool: "bool", true as u32;
}

/// The size in bytes of a block of elements: a cache line.
const BLOCK: usize = 64;

/// The prefetch distance in bytes.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 1024;

/// The stores of an instruction set: of a block of elements, and of a part of one.
pub trait Expand: Copy {
    /// Whether there are streaming stores.
    const STREAMS: bool = true;

    /// 64 bits in the form that [`Expand::block`] takes.
    type Bits: Copy;

    /// Prepares the bits for [`Expand::block`].
    fn prepare(self, bits: u64) -> Self::Bits;

    /// Writes one block: the elements of the `index`-th part of the bits. `STREAM` selects
    /// streaming stores.
    ///
    /// # Safety
    /// The block is valid for writes, and aligned to its size if `STREAM` is set.
    unsafe fn block<E: Element, const STREAM: bool>(
        self,
        bits: Self::Bits,
        index: usize,
        block: *mut E,
    );

    /// Writes the elements of the first `length` bits, at most a block.
    ///
    /// # Safety
    /// `row` is valid for writes of `length` elements.
    unsafe fn part<E: Element>(self, bits: u64, row: *mut E, length: usize);
}

/// The number of elements in a block.
const fn per_block<E: Element>() -> usize {
    BLOCK / size_of::<E>()
}

/// The bits of a row, in words of 64.
pub trait Bits: Copy {
    /// The word with this index. The word after the last has arbitrary bits.
    ///
    /// # Safety
    /// The index is at most the number of words.
    unsafe fn word(self, index: usize) -> u64;

    /// The 64 bits from the bit `start` on. Those after the last word are arbitrary.
    ///
    /// # Safety
    /// The bit `start` lies in one of the words.
    #[inline(always)]
    unsafe fn word_at_bit(self, start: usize) -> u64 {
        let (index, shift) = (start / 64, start % 64);
        // SAFETY: the first index is that of a word, so the second is at most their number.
        let (low, high) = unsafe { (self.word(index), self.word(index + 1)) };
        // Two shifts, because one by 64 would overflow.
        low >> shift | high << 1 << (63 - shift)
    }
}

impl Bits for &[u64] {
    #[inline(always)]
    unsafe fn word(self, index: usize) -> u64 {
        self.get(index).copied().unwrap_or(0)
    }
}

/// Writes one element for each of the first `length` bits. `STREAM` selects streaming stores, after
/// which the caller needs a [`fence`]; it has no effect where there are none.
///
/// # Safety
/// `row` is valid for writes of `length` elements, and there is a word of bits for each 64 of them.
#[inline(always)]
pub unsafe fn expand<I: Expand, E: Element, const STREAM: bool>(
    isa: I,
    bits: impl Bits,
    row: *mut E,
    length: usize,
) {
    // SAFETY: as the caller promises.
    unsafe {
        if STREAM && I::STREAMS && length * size_of::<E>() >= 2 * BLOCK {
            expand_aligned(isa, bits, row, length);
        } else {
            expand_anywhere(isa, bits, row, length);
        }
    }
}

/// Writes one element for each bit of the words, and zeros past their end.
#[inline(always)]
pub fn expand_words<E: Element>(isa: impl Expand, words: &[u64], row: &mut [MaybeUninit<E>]) {
    // SAFETY: the row is a whole slice, and a slice as `Bits` gives zeros past its end.
    unsafe { expand::<_, E, false>(isa, words, row.as_mut_ptr().cast(), row.len()) }
}

/// Writes the 64 elements of a word.
///
/// # Safety
/// As for [`Expand::block`], for each block of the word.
#[inline(always)]
unsafe fn word<I: Expand, E: Element, const STREAM: bool>(isa: I, bits: u64, row: *mut E) {
    // SAFETY: as the caller promises.
    unsafe {
        let bits = isa.prepare(bits);
        for index in 0..size_of::<E>() {
            isa.block::<E, STREAM>(bits, index, row.add(index * per_block::<E>()));
        }
    }
}

/// [`expand`] in blocks from the first element on, wherever they lie. The last block overlaps the
/// one before it.
///
/// # Safety
/// As for [`expand`].
#[inline(always)]
unsafe fn expand_anywhere<I: Expand, E: Element>(
    isa: I,
    bits: impl Bits,
    row: *mut E,
    length: usize,
) {
    let full = length / 64;
    // SAFETY: no block begins before the first element or ends after the last, and each word that
    // is read has bits of elements.
    unsafe {
        for index in 0..full {
            word::<I, E, false>(isa, bits.word(index), row.add(64 * index));
        }
        let mut at = 64 * full;
        if at == length {
            return;
        }
        if length < per_block::<E>() {
            return isa.part(bits.word(0), row, length);
        }
        let mut rest = bits.word(full);
        while at + per_block::<E>() <= length {
            isa.block::<E, false>(isa.prepare(rest), 0, row.add(at));
            at += per_block::<E>();
            rest = rest.checked_shr(per_block::<E>() as u32).unwrap_or(0);
        }
        if at < length {
            let last = length - per_block::<E>();
            isa.block::<E, false>(isa.prepare(bits.word_at_bit(last)), 0, row.add(last));
        }
    }
}

/// [`expand`] with streaming stores of aligned blocks, between a part of a block before them and one after them.
///
/// # Safety
/// As for [`expand`]. The row is as long as a block at least.
#[inline(always)]
unsafe fn expand_aligned<I: Expand, E: Element>(
    isa: I,
    bits: impl Bits,
    row: *mut E,
    length: usize,
) {
    let per_block = per_block::<E>();
    // The number of elements before the first aligned block.
    let head = row.addr().wrapping_neg() % BLOCK / size_of::<E>();
    let mut at = head;
    // SAFETY: the head is shorter than a block, and so than the row. An element is aligned to its
    // size, so an aligned block begins where the head ends, and `at` is advanced by whole blocks.
    // No block ends after the last element, and bits are read from those of an element on.
    unsafe {
        isa.part(bits.word(0), row, head);
        while at + 64 <= length {
            word::<I, E, true>(isa, bits.word_at_bit(at), row.add(at));
            at += 64;
        }
        while at + per_block <= length {
            isa.block::<E, true>(isa.prepare(bits.word_at_bit(at)), 0, row.add(at));
            at += per_block;
        }
        if at < length {
            isa.part(bits.word_at_bit(at), row.add(at), length - at);
        }
    }
}

/// Prefetches, for writing, the cache lines that are `AHEAD` of a row, and up to three more.
#[inline(always)]
pub fn prefetch<T>(row: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for four in 0..size_of_val(row).div_ceil(4 * BLOCK) {
        let ahead = row.as_ptr().cast::<u8>().wrapping_add(AHEAD + 4 * BLOCK * four);
        // Assembly, because the intrinsic prefetches for reading unless the feature `prfchw` is
        // enabled. Processors without the instruction ignore it.
        // SAFETY: the instruction changes no register and no memory, and any address is allowed.
        unsafe {
            std::arch::asm!(
                "prefetchw [{ahead}]",
                "prefetchw [{ahead} + 64]",
                "prefetchw [{ahead} + 128]",
                "prefetchw [{ahead} + 192]",
                ahead = in(reg) ahead,
                options(nostack, preserves_flags),
            );
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = row;
}

/// Orders streaming stores before all later stores of this thread.
pub fn fence() {
    // SAFETY: every x86-64 processor has SSE.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
