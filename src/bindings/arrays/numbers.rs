//! The dtypes of arrays whose memory is read or written.

use std::ffi::{c_int, c_long};

use half::{bf16, f16};
use numpy::npyffi::NPY_TYPES;

/// A dtype.
pub struct NumberType {
    /// numpy's number for it.
    pub number: c_int,
    /// numpy's name for it.
    pub name: &'static str,
    /// Bytes of an element, which are also its alignment.
    pub size: usize,
}

/// A Rust type with its dtype. Every pattern of bits is a value of the type, except for `bool`.
pub trait Number: Copy {
    const TYPE: &'static NumberType;
}

macro_rules! numbers {
    ($($type:ty: $number:expr, $name:literal);+ $(;)?) => {
        $(impl Number for $type {
            const TYPE: &'static NumberType = &NumberType {
                number: $number as c_int,
                name: $name,
                size: size_of::<$type>(),
            };
        })+
    };
}

/// numpy's number for 64-bit integers: C's `long` has 32 bits on Windows.
const INT64: NPY_TYPES =
    if size_of::<c_long>() == 8 { NPY_TYPES::NPY_LONG } else { NPY_TYPES::NPY_LONGLONG };
const UINT64: NPY_TYPES =
    if size_of::<c_long>() == 8 { NPY_TYPES::NPY_ULONG } else { NPY_TYPES::NPY_ULONGLONG };

numbers! {
    f32: NPY_TYPES::NPY_FLOAT, "float32";
    f16: NPY_TYPES::NPY_HALF, "float16";
    bf16: NPY_TYPES::NPY_USHORT, "uint16"; // numpy lacks bfloat16
    bool: NPY_TYPES::NPY_BOOL, "bool";
    i8: NPY_TYPES::NPY_BYTE, "int8";
    i16: NPY_TYPES::NPY_SHORT, "int16";
    i32: NPY_TYPES::NPY_INT, "int32";
    i64: INT64, "int64";
    u8: NPY_TYPES::NPY_UBYTE, "uint8";
    u16: NPY_TYPES::NPY_USHORT, "uint16";
    u32: NPY_TYPES::NPY_UINT, "uint32";
    u64: UINT64, "uint64";
}
