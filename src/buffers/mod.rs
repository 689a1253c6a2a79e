//! The memory that callers pass in: its length, the instruction set that fills it, and packed bits
//! as elements in it.
//!
//! Networks and batches write into such memory, so this module lies below them.
//!
//! - [`BufferError`]: memory of the wrong length or type
//! - [`Simd`]: the instruction sets, and the one that a process uses
//! - [`WriteOnly`]: memory that is written and never read
//! - [`unpack_bits`]: packed rows, one bit for each feature, as rows of an [`Element`] type

pub(crate) mod expand;
mod length;
mod simd;
mod unpack;
mod write_only;

pub use expand::Element;
pub use length::BufferError;
pub(crate) use length::{check_length, try_with_capacity};
#[cfg(target_arch = "x86_64")]
pub(crate) use simd::{Avx2, Avx512};
pub use simd::{InstructionSetError, SIMD_VARIABLE, Simd};
pub(crate) use simd::{Portable, Task};
pub use unpack::{packed_length, unpack_bits};
pub use write_only::WriteOnly;
pub(crate) use write_only::{filled, initialised};

/// Floating-point numbers of two bytes, of the crate `half`.
pub use half::{bf16, f16};
