//! Portable code: eight elements at a time are copied from a table.

use super::{Element, Expand, per_block};
use crate::buffers::Portable;

/// A table with eight lanes for each value of a byte: all ones or all zeros by its bits.
macro_rules! octets {
    ($type:ty) => {{
        static OCTETS: [[$type; 8]; 256] = {
            let mut octets = [[0; 8]; 256];
            let mut byte = 0;
            while byte < 256 {
                let mut bit = 0;
                while bit < 8 {
                    if byte >> bit & 1 == 1 {
                        octets[byte][bit] = <$type>::MAX;
                    }
                    bit += 1;
                }
                byte += 1;
            }
            octets
        };
        &OCTETS
    }};
}

/// Writes the eight elements of a byte.
///
/// # Safety
/// `row` is valid for writes of eight elements.
#[inline(always)]
unsafe fn octet<E: Element>(byte: u8, row: *mut E) {
    let byte = usize::from(byte);
    // SAFETY: an array of the size of eight elements, which need not be aligned.
    unsafe {
        match size_of::<E>() {
            4 => {
                row.cast::<[u32; 8]>().write_unaligned(octets!(u32)[byte].map(|lane| lane & E::ONE))
            }
            2 => row
                .cast::<[u16; 8]>()
                .write_unaligned(octets!(u16)[byte].map(|lane| lane & E::ONE as u16)),
            _ => row
                .cast::<[u8; 8]>()
                .write_unaligned(octets!(u8)[byte].map(|lane| lane & E::ONE as u8)),
        }
    }
}

impl Expand for Portable {
    const STREAMS: bool = false;

    type Bits = u64;

    #[inline(always)]
    fn prepare(self, bits: u64) -> u64 {
        bits
    }

    #[inline(always)]
    unsafe fn block<E: Element, const STREAM: bool>(self, bits: u64, index: usize, block: *mut E) {
        let bits = bits >> (index * per_block::<E>());
        for octet_index in 0..per_block::<E>() / 8 {
            // SAFETY: the octets lie inside the block.
            unsafe { octet((bits >> (8 * octet_index)) as u8, block.add(8 * octet_index)) };
        }
    }

    #[inline(always)]
    unsafe fn part<E: Element>(self, bits: u64, row: *mut E, length: usize) {
        // SAFETY: no element or octet ends after `length`.
        unsafe {
            if length < 8 {
                for index in 0..length {
                    one(bits >> index, row.add(index));
                }
                return;
            }
            let mut at = 0;
            while at + 8 <= length {
                octet((bits >> at) as u8, row.add(at));
                at += 8;
            }
            octet((bits >> (length - 8)) as u8, row.add(length - 8));
        }
    }
}

/// Writes the element of the lowest bit.
///
/// # Safety
/// `element` is valid for writes.
#[inline(always)]
unsafe fn one<E: Element>(bit: u64, element: *mut E) {
    let value = if bit & 1 == 1 { E::ONE } else { 0 };
    // SAFETY: a number of the size of the element.
    unsafe {
        match size_of::<E>() {
            4 => element.cast::<u32>().write(value),
            2 => element.cast::<u16>().write(value as u16),
            _ => element.cast::<u8>().write(value as u8),
        }
    }
}
