//! Packed bits to one element for each bit, in a routine for each instruction set.
//!
//! [`portable`], [`avx2`] and [`avx512`] each have an `expand` that is inlined into its caller,
//! which must itself be compiled for the instruction set and chosen at run time.

#[cfg(target_arch = "x86_64")]
pub(in crate::batch) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(in crate::batch) mod avx512;
pub(in crate::batch) mod portable;
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
    const ALIGNED_FROM: usize;

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

    /// Writes so many elements, fewer than a block has.
    ///
    /// # Safety
    /// The processor has the instruction set; the elements are valid to write.
    unsafe fn few<E: Element>(bits: u64, row: *mut E, length: usize);
}

/// Elements of a block.
const fn per_block<E: Element>() -> usize {
    BLOCK / size_of::<E>()
}

/// The 64 bits from this one on; zeros past the end.
#[inline(always)]
fn bits_from(words: &[u64], start: usize) -> u64 {
    let (index, shift) = (start / 64, start % 64);
    let word = |index: usize| words.get(index).copied().unwrap_or(0);
    // Shifted in two steps, since a shift by 64 is none.
    word(index) >> shift | word(index + 1) << 1 << (63 - shift)
}

/// Writes one element for each of the first `length` bits.
///
/// # Safety
/// The processor has the instruction set; `row` is valid to write for `length` elements.
#[inline(always)]
unsafe fn expand_with<L: Lanes, E: Element, const STREAM: bool>(
    words: &[u64],
    row: *mut E,
    length: usize,
) {
    let aligned_from = if STREAM { 2 * BLOCK } else { L::ALIGNED_FROM };
    // SAFETY: as the caller promises.
    unsafe {
        if length * size_of::<E>() >= aligned_from {
            expand_aligned::<L, E, STREAM>(words, row, length);
        } else {
            expand_anywhere::<L, E>(words, row, length);
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
unsafe fn expand_anywhere<L: Lanes, E: Element>(words: &[u64], row: *mut E, length: usize) {
    let full = length / 64;
    // SAFETY: all blocks end at or before `length`, and none begins before 0.
    unsafe {
        for (index, &bits) in words.iter().take(full).enumerate() {
            word::<L, E, false>(bits, row.add(64 * index));
        }
        let mut at = 64 * full;
        if at == length {
            return;
        }
        if length < per_block::<E>() {
            return L::few(bits_from(words, 0), row, length);
        }
        let mut bits = bits_from(words, at);
        while at + per_block::<E>() <= length {
            L::block::<E, false>(L::ready(bits), 0, row.add(at));
            at += per_block::<E>();
            bits = bits.checked_shr(per_block::<E>() as u32).unwrap_or(0);
        }
        if at < length {
            let last = length - per_block::<E>();
            L::block::<E, false>(L::ready(bits_from(words, last)), 0, row.add(last));
        }
    }
}

/// [`expand_with`] in aligned blocks between a head and a tail that are less than a block.
///
/// # Safety
/// As for [`expand_with`], with at least a block to write.
#[inline(always)]
unsafe fn expand_aligned<L: Lanes, E: Element, const STREAM: bool>(
    words: &[u64],
    row: *mut E,
    length: usize,
) {
    let head = row.addr().wrapping_neg() % BLOCK / size_of::<E>();
    // SAFETY: the head is less than a block, all blocks end at or before `length`, and the tail
    // ends there. An element is aligned, so the head ends at an aligned block.
    unsafe {
        L::few(bits_from(words, 0), row, head);
        let mut at = head;
        while at + 64 <= length {
            word::<L, E, STREAM>(bits_from(words, at), row.add(at));
            at += 64;
        }
        let mut bits = bits_from(words, at);
        while at + per_block::<E>() <= length {
            L::block::<E, STREAM>(L::ready(bits), 0, row.add(at));
            at += per_block::<E>();
            bits = bits.checked_shr(per_block::<E>() as u32).unwrap_or(0);
        }
        L::few(bits, row.add(at), length - at);
    }
}

/// Asks for the memory of a row that lies `AHEAD` of this one, in order to write it; up to three
/// cache lines more.
#[inline(always)]
pub(in crate::batch) fn prefetch<E: Element>(row: &[E]) {
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
pub(in crate::batch) fn fence() {
    // SAFETY: every such processor has SSE.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Writes as many bytes of the words as the row has, the lowest first.
#[inline(always)]
pub(super) fn copy_bits(words: &[u64], row: &mut [u8]) {
    const PART: usize = 32;
    let length = row.len();
    if cfg!(target_endian = "big") || length < PART {
        for (word, bytes) in words.iter().zip(row.chunks_mut(8)) {
            bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
        }
        return;
    }
    // SAFETY: words are bytes, eight for each.
    let bytes = unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), 8 * words.len()) };
    let bytes = &bytes[..length];
    for (from, to) in bytes.as_chunks::<PART>().0.iter().zip(row.as_chunks_mut::<PART>().0) {
        *to = *from;
    }
    // The last part again reaches to the end.
    if let (Some(from), Some(to)) = (bytes.last_chunk::<PART>(), row.last_chunk_mut::<PART>()) {
        *to = *from;
    }
}
