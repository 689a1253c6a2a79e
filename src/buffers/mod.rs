//! The memory that callers pass in: its length, the instruction set that fills it, and packed bits
//! as elements in it.
//!
//! Networks and batches write into such memory, so this module lies below them.
//!
//! - [`BufferError`]: memory of the wrong length or type
//! - [`InstructionSet`]: the instruction sets, and the one that a process uses
//! - [`WriteOnly`]: memory that is written and never read
//! - [`unpack_bits`]: packed rows, one bit for each feature, as rows of an [`Element`] type

pub(crate) mod expand;
mod instruction_set;
mod length;
mod unpack;
mod write_only;

pub use expand::Element;
#[cfg(target_arch = "x86_64")]
pub(crate) use instruction_set::{Avx2, Avx512};
pub use instruction_set::{InstructionSet, InstructionSetError, SIMD_VARIABLE};
pub(crate) use instruction_set::{Portable, Task};
pub use length::BufferError;
pub(crate) use length::{check_length, try_with_capacity};
pub use unpack::{packed_length, unpack_bits};
pub use write_only::WriteOnly;
pub(crate) use write_only::{filled, initialised};

/// Floating-point numbers of two bytes, of the crate `half`.
pub use half::{bf16, f16};
