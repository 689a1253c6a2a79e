//! Packed bits to one element for each bit, in a routine for each instruction set.
//!
//! [`portable`], [`avx2`] and [`avx512`] each have an `expand` that is inlined into its caller,
//! which must itself be compiled for the instruction set and chosen at run time.

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
pub mod portable;
#[cfg(test)]
mod speed;
#[cfg(test)]
mod tests;

use half::{bf16, f16};

/// An element that stands for a bit.
///
/// # Safety
/// Its size is its alignment, one of 1, 2 and 4, and both all zeros and the lowest bytes of `ONE`
/// are values of it.
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// The bit pattern of one; zero is all zeros.
    const ONE: u32;
}

macro_rules! elements {
    ($($type:ty: $one:expr),+ $(,)?) => {
        $(
            // SAFETY: a plain number of 1, 2 or 4 bytes, or a bool, with its own pattern of one.
            unsafe impl Element for $type {
                const ONE: u32 = $one;
            }
        )+
    };
}

elements! {
    f32: 1f32.to_bits(),
    f16: f16::ONE.to_bits() as u32,
    bf16: bf16::ONE.to_bits() as u32,
    u8: 1,
    bool: true as u32,
}

/// Bytes of a block, and of a cache line.
const BLOCK: usize = 64;

/// How many bytes are written between asking for a cache line and writing it.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 1024;

/// What an instruction set brings: how it writes a block of 64 bytes, and less than one.
///
/// The functions need a caller that is compiled for the instruction set.
trait Lanes {
    /// From how many bytes on a row's blocks are aligned, at the price of a head and shifted words.
    const ALIGNED_FROM: Option<usize>;

    /// 64 bits made ready for the blocks that they fill.
    type Bits: Copy;

    /// # Safety
    /// The processor has the instruction set.
    unsafe fn ready(bits: u64) -> Self::Bits;

    /// Writes the block of this index: an element for each of its bits. `STREAM` goes past the
    /// caches.
    ///
    /// # Safety
    /// The processor has the instruction set; the block is valid to write, and aligned to itself
    /// where `STREAM` is set.
    unsafe fn block<E: Element, const STREAM: bool>(bits: Self::Bits, index: usize, block: *mut E);

    /// Writes so many elements, at most a block.
    ///
    /// # Safety
    /// The processor has the instruction set; the elements are valid to write.
    unsafe fn few<E: Element>(bits: u64, row: *mut E, length: usize);
}

/// Elements of a block.
const fn per_block<E: Element>() -> usize {
    BLOCK / size_of::<E>()
}

/// The bits of a row, as words.
pub trait Bits: Copy {
    /// The word of this index.
    ///
    /// # Safety
    /// The row has a word of this index, or ends just before it: then any bits are given.
    unsafe fn word(self, index: usize) -> u64;

    /// The 64 bits from this one on.
    ///
    /// # Safety
    /// The row has the word that the first of them is in.
    #[inline(always)]
    unsafe fn from(self, start: usize) -> u64 {
        let (index, shift) = (start / 64, start % 64);
        // SAFETY: the row has the first word, and so ends after it at the earliest.
        let (low, high) = unsafe { (self.word(index), self.word(index + 1)) };
        // Shifted in two steps, since a shift by 64 is none.
        low >> shift | high << 1 << (63 - shift)
    }
}

impl Bits for &[u64] {
    #[inline(always)]
    unsafe fn word(self, index: usize) -> u64 {
        self.get(index).copied().unwrap_or(0)
    }
}

/// Writes one element for each of the first `length` bits.
///
/// # Safety
/// The processor has the instruction set; `row` is valid to write for `length` elements, and the bits
/// have a word for each 64 of them.
#[inline(always)]
unsafe fn expand_with<L: Lanes, E: Element, const STREAM: bool>(
    bits: impl Bits,
    row: *mut E,
    length: usize,
) {
    // SAFETY: as the caller promises.
    unsafe {
        let aligned_from = if STREAM { Some(2 * BLOCK) } else { L::ALIGNED_FROM };
        if aligned_from.is_some_and(|from| length * size_of::<E>() >= from) {
            expand_aligned::<L, E, STREAM>(bits, row, length);
        } else {
            expand_anywhere::<L, E>(bits, row, length);
        }
    }
}

/// Writes all 64 elements of a word.
///
/// # Safety
/// As for [`Lanes::block`], for all blocks of the word.
#[inline(always)]
unsafe fn word<L: Lanes, E: Element, const STREAM: bool>(bits: u64, row: *mut E) {
    // SAFETY: as the caller promises.
    unsafe {
        let bits = L::ready(bits);
        for index in 0..size_of::<E>() {
            L::block::<E, STREAM>(bits, index, row.add(index * per_block::<E>()));
        }
    }
}

/// [`expand_with`] from the row's first byte on; the last block reaches back over elements that
/// are written already.
///
/// # Safety
/// As for [`expand_with`].
#[inline(always)]
unsafe fn expand_anywhere<L: Lanes, E: Element>(bits: impl Bits, row: *mut E, length: usize) {
    let full = length / 64;
    // SAFETY: all blocks end at or before `length`, and none begins before 0; all words have bits
    // before `length`.
    unsafe {
        for index in 0..full {
            word::<L, E, false>(bits.word(index), row.add(64 * index));
        }
        let mut at = 64 * full;
        if at == length {
            return;
        }
        if length < per_block::<E>() {
            return L::few(bits.word(0), row, length);
        }
        let mut rest = bits.word(full);
        while at + per_block::<E>() <= length {
            L::block::<E, false>(L::ready(rest), 0, row.add(at));
            at += per_block::<E>();
            rest = rest.checked_shr(per_block::<E>() as u32).unwrap_or(0);
        }
        if at < length {
            let last = length - per_block::<E>();
            L::block::<E, false>(L::ready(bits.from(last)), 0, row.add(last));
        }
    }
}

/// [`expand_with`] in aligned blocks after a head that is less than one, with less than two at the
/// end, which are written in part: how many blocks are whole does not depend on where the row
/// begins, and no branch does.
///
/// # Safety
/// As for [`expand_with`], with at least a block to write.
#[inline(always)]
unsafe fn expand_aligned<L: Lanes, E: Element, const STREAM: bool>(
    bits: impl Bits,
    row: *mut E,
    length: usize,
) {
    let per_block = per_block::<E>();
    // Elements up to the first aligned block.
    let head = row.addr().wrapping_neg() % BLOCK / size_of::<E>();
    let mut at = head;
    // SAFETY: the head is less than a block. An element is aligned, so the head ends at an aligned
    // block, and so does every block after it; all of them end at or before `length`. Bits are read
    // only where there are elements before `length`.
    unsafe {
        L::few(bits.word(0), row, head);
        while at + 64 <= length {
            word::<L, E, STREAM>(bits.from(at), row.add(at));
            at += 64;
        }
        while at + per_block <= length {
            L::block::<E, STREAM>(L::ready(bits.from(at)), 0, row.add(at));
            at += per_block;
        }
        if at < length {
            L::few(bits.from(at), row.add(at), length - at);
        }
    }
}

/// Asks for the memory of a row that lies `AHEAD` of this one, in order to write it; up to three
/// cache lines more.
#[inline(always)]
pub fn prefetch<E: Element>(row: &[E]) {
    #[cfg(target_arch = "x86_64")]
    for four in 0..size_of_val(row).div_ceil(4 * BLOCK) {
        let ahead = row.as_ptr().cast::<u8>().wrapping_add(AHEAD + 4 * BLOCK * four);
        // The intrinsic asks for reading only, unless a feature is compiled in that no processor
        // needs: those without the instruction pass over it.
        // SAFETY: it changes no register and no memory, and no address is wrong for it.
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

/// Makes streamed elements visible to other threads before whatever this thread writes next.
pub fn fence() {
    // SAFETY: every such processor has SSE.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
