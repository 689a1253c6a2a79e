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

    /// The 64 bits of this index when so many first bits, below 64, are left out.
    ///
    /// # Safety
    /// The row has a word of this index.
    #[inline(always)]
    unsafe fn word_after(self, head: usize, index: usize) -> u64 {
        // SAFETY: as the caller promises.
        unsafe { self.from(head + 64 * index) }
    }
}

impl Bits for &[u64] {
    #[inline(always)]
    unsafe fn word(self, index: usize) -> u64 {
        self.get(index).copied().unwrap_or(0)
    }
}

/// Elements of so many bytes from an address up to where the first aligned block begins.
#[inline(always)]
pub const fn head(address: usize, size: usize) -> usize {
    address.wrapping_neg() % BLOCK / size
}

/// The bits of a block, of those after the head.
///
/// # Safety
/// As for [`Bits::word_after`]: without a head, the block would begin in the row.
#[inline(always)]
unsafe fn block_bits<E: Element>(bits: impl Bits, head: usize, index: usize) -> u64 {
    let per_word = 64 / per_block::<E>();
    // SAFETY: as the caller promises.
    let word = unsafe { bits.word_after(head, index / per_word) };
    word >> (index % per_word * per_block::<E>())
}

/// Writes one element for each of the first `length` bits.
///
/// # Safety
/// The processor has the instruction set; `row` is valid to write for `length` elements, and the
/// bits have a word for each 64 of them.
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
    let per_word = 64 / per_block;
    let whole = (length - (per_block - 1)) / per_block;
    let head = head(row.addr(), size_of::<E>());
    let rest = length - head - whole * per_block;
    // SAFETY: the head is less than a block, so that after it there are as many whole blocks and
    // `rest` elements. An element is aligned, so the head ends at an aligned block. What the last
    // part would reach beyond the row is no element of it. Without a head, all blocks would begin
    // before `length`.
    unsafe {
        L::few(bits.word(0), row, head);
        let row = row.add(head);
        for index in 0..whole / per_word {
            word::<L, E, STREAM>(bits.word_after(head, index), row.add(64 * index));
        }
        for index in whole / per_word * per_word..whole {
            let bits = L::ready(block_bits::<E>(bits, head, index));
            L::block::<E, STREAM>(bits, 0, row.add(index * per_block));
        }
        let last = block_bits::<E>(bits, head, whole);
        L::few(last, row.add(whole * per_block), rest.min(per_block));
        if length - whole * per_block > per_block {
            let (last, end) = (block_bits::<E>(bits, head, whole + 1), (whole + 1) * per_block);
            L::few(last, row.wrapping_add(end), rest.saturating_sub(per_block));
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
