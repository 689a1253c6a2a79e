//! Arrays that Python gave: every property is checked and named before their memory is touched.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::ops::Range;

use half::f16;
use numpy::npyffi::{
    _PyArray_GET_ITEM_DATA, _PyDataType_GET_ITEM_DATA, NPY_ARRAY_WRITEABLE, NPY_TYPES,
};
use numpy::{
    Element, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use super::claims::{Claims, Held, is_written};
use super::errors::ArrayError;

/// A numpy array of any type.
pub(super) fn untyped<'a, 'py>(
    name: &str,
    given: &'a Bound<'py, PyAny>,
) -> PyResult<&'a Bound<'py, PyUntypedArray>> {
    given.cast::<PyUntypedArray>().map_err(|_| {
        let found = given.get_type();
        ArrayError::new_err(format!("{name} is a {found}: expected a numpy array"))
    })
}

fn check_shape(name: &str, array: &Bound<'_, PyUntypedArray>, shape: &[usize]) -> PyResult<()> {
    if array.shape() == shape {
        return Ok(());
    }
    let found = array.shape();
    Err(ArrayError::new_err(format!("{name} has shape {found:?}: expected {shape:?}")))
}

/// The array as one of this type; why it is not is looked for only then.
fn typed<'a, 'py, T: Element>(
    name: &str,
    given: &'a Bound<'py, PyAny>,
) -> PyResult<&'a Bound<'py, PyArrayDyn<T>>> {
    if let Ok(array) = given.cast::<PyArrayDyn<T>>() {
        return Ok(array);
    }
    let (found, expected) = (untyped(name, given)?.dtype(), T::get_dtype(given.py()));
    Err(ArrayError::new_err(format!("{name} has dtype {found}: expected {expected}")))
}

/// What numpy's own structure says of an array.
struct Fields {
    address: usize,
    is_writable: bool,
    type_number: c_int,
    byte_order: u8,
}

fn fields(array: &Bound<'_, PyUntypedArray>) -> Fields {
    // SAFETY: `array` is a live numpy array, which has a live dtype, so the fields of both can be
    // read; the interpreter is held, so Python does not change them meanwhile.
    unsafe {
        let fields = &*_PyArray_GET_ITEM_DATA(array.as_array_ptr());
        let dtype = &*_PyDataType_GET_ITEM_DATA(fields.descr);
        Fields {
            address: fields.data as usize,
            is_writable: fields.flags & NPY_ARRAY_WRITEABLE != 0,
            type_number: dtype.type_num,
            byte_order: dtype.byteorder as u8,
        }
    }
}

/// Where the memory of an array begins.
pub(super) fn data_address(array: &Bound<'_, PyUntypedArray>) -> usize {
    fields(array).address
}

/// An element of buffers, with its number among numpy's own types.
pub(super) trait Number: Element {
    const TYPE: NPY_TYPES;
}

macro_rules! numbers {
    ($($type:ty => $number:ident),+) => {
        $(impl Number for $type {
            const TYPE: NPY_TYPES = NPY_TYPES::$number;
        })+
    };
}

numbers! {
    f32 => NPY_FLOAT,
    f16 => NPY_HALF,
    u8 => NPY_UBYTE,
    bool => NPY_BOOL,
    i8 => NPY_BYTE,
    i32 => NPY_INT,
    u16 => NPY_USHORT
}

/// The memory of a checked buffer, to be made a slice once.
pub(super) struct Memory<'a, T> {
    pointer: *mut T,
    length: usize,
    array: PhantomData<&'a mut T>,
}

impl<T> Memory<'_, T> {
    pub fn addresses(&self) -> Range<usize> {
        let start = self.pointer as usize;
        start..start + size_of::<T>() * self.length
    }

    /// The elements, while the call holds its memory.
    pub fn slice<'b>(&'b mut self, _held: &'b Held) -> &'b mut [T] {
        // SAFETY: `check_output` found `length` elements of an array of `T` here, aligned, without
        // gaps and writable, and the array lives as long as `self`. What a call holds was claimed by
        // `output`, and `Claims::hold` refuses overlaps within the call and with a call in another
        // thread, and `self` is borrowed: there is no other slice of it. The elements are numbers,
        // or bools that are only written.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.length) }
    }
}

/// The array as one of this type and what numpy says of it.
fn typed_fields<'a, 'py, T: Number>(
    name: &str,
    given: &'a Bound<'py, PyAny>,
) -> PyResult<(&'a Bound<'py, PyUntypedArray>, Fields)> {
    let array = untyped(name, given)?;
    let fields = fields(array);
    if fields.type_number != T::TYPE as c_int || !matches!(fields.byte_order, b'=' | b'|') {
        typed::<T>(name, given)?; // of another name for the same type, or refused
    }
    Ok((array, fields))
}

/// Checks a caller's buffer of this shape: writable, contiguous, aligned.
pub(super) fn check_output<'a, T: Number>(
    name: &str,
    given: &'a Bound<'_, PyAny>,
    shape: &[usize],
) -> PyResult<Memory<'a, T>> {
    let (array, fields) = typed_fields::<T>(name, given)?;
    check_shape(name, array, shape)?;
    let pointer = fields.address as *mut T;
    let problem = if !array.is_c_contiguous() {
        NOT_CONTIGUOUS
    } else if !pointer.is_aligned() {
        "is not aligned: expected an aligned array"
    } else if !fields.is_writable {
        "is read-only: expected a writable array"
    } else {
        let length = shape.iter().product();
        return Ok(Memory { pointer, length, array: PhantomData });
    };
    Err(ArrayError::new_err(format!("{name} {problem}")))
}

const NOT_CONTIGUOUS: &str = "is not contiguous: expected C order";

/// Checks a caller's buffer and claims its memory.
pub(super) fn output<'a, T: Number>(
    name: &'static str,
    given: &'a Bound<'_, PyAny>,
    shape: &[usize],
    claims: &mut Claims,
) -> PyResult<Memory<'a, T>> {
    let memory = check_output(name, given, shape)?;
    claims.claim(name, memory.addresses());
    Ok(memory)
}

/// Bytes that a call reads, checked.
pub(super) struct Bytes<'a> {
    pointer: *const u8,
    length: usize,
    array: PhantomData<&'a [u8]>,
}

impl Bytes<'_> {
    /// The bytes, while the call holds its memory.
    pub fn slice<'b>(&'b self, _held: &'b Held) -> &'b [u8] {
        // SAFETY: `input` found `length` bytes of an array here, without gaps, and the array lives
        // as long as `self`. It claimed them for reading, and `Claims::hold` refuses what this call
        // or another thread's writes: there are none but shared slices of them.
        unsafe { std::slice::from_raw_parts(self.pointer, self.length) }
    }
}

/// Checks bytes of any shape that the call reads, without gaps, and claims them.
pub(super) fn input<'a, 'py>(
    name: &'static str,
    given: &'a Bound<'py, PyAny>,
    claims: &mut Claims,
) -> PyResult<(&'a Bound<'py, PyUntypedArray>, Bytes<'a>)> {
    let (array, fields) = typed_fields::<u8>(name, given)?;
    if !array.is_c_contiguous() {
        return Err(ArrayError::new_err(format!("{name} {NOT_CONTIGUOUS}")));
    }
    let length = array.len();
    claims.claim_to_read(name, fields.address..fields.address + length);
    Ok((array, Bytes { pointer: fields.address as *const u8, length, array: PhantomData }))
}

/// An element type's number among numpy's.
pub(super) fn type_number(array: &Bound<'_, PyUntypedArray>) -> c_int {
    fields(array).type_number
}

/// Integers as a numpy array: what is none is made one, from DLPack or a sequence. This may run any
/// Python code.
pub(super) fn integer_array<'py>(
    name: &str,
    given: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    static FROM_DLPACK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static AS_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if given.is_instance_of::<PyUntypedArray>() {
        return Ok(given.clone());
    }
    let py = given.py();
    let function = if given.hasattr("__dlpack__")? {
        FROM_DLPACK.import(py, "numpy", "from_dlpack")?
    } else {
        AS_ARRAY.import(py, "numpy", "asarray")?
    };
    function.call1((given,)).map_err(|error| {
        ArrayError::new_err(format!("{name} cannot be read as an array: {}", error.value(py)))
    })
}

/// Reads integers of any width. They are copied at once, so that what is checked is what is played
/// even if another thread changes the array meanwhile.
pub(super) fn read_integers(
    name: &str,
    given: &Bound<'_, PyAny>,
    length: usize,
    integers: &mut Vec<i64>,
) -> PyResult<()> {
    let array = untyped(name, given)?;
    check_shape(name, array, &[length])?;
    integers.clear();
    macro_rules! read {
        ($($type:ty),+) => {
            $(if read_as::<$type>(name, given, integers)? {
                return Ok(());
            })+
        };
    }
    read!(i64, i32, i16, i8, u8, u16, u32, u64);
    let dtype = array.dtype();
    if dtype.kind() != b'i' && dtype.kind() != b'u' {
        return Err(ArrayError::new_err(format!("{name} has dtype {dtype}: expected integers")));
    }
    // Another byte order, another name of the same width, or not aligned.
    let plain = given.py().import("numpy")?.call_method1("array", (given, "int64"))?;
    check_shape(name, untyped(name, &plain)?, &[length])?;
    if read_as::<i64>(name, &plain, integers)? {
        return Ok(());
    }
    Err(ArrayError::new_err(format!("{name} cannot be read as integers")))
}

/// Reads the numbers of an aligned array of this type; false when it is another one.
fn read_as<T>(name: &str, given: &Bound<'_, PyAny>, integers: &mut Vec<i64>) -> PyResult<bool>
where
    T: Element + Copy + std::fmt::Display,
    i64: TryFrom<T>,
{
    let Ok(array) = given.cast::<PyArrayDyn<T>>() else {
        return Ok(false);
    };
    if !array.data().is_aligned() {
        return Ok(false);
    }
    check_not_written(name, array.as_untyped(), size_of::<T>())?;
    if !array.is_c_contiguous() {
        let function = given.py().import("numpy")?.getattr("ascontiguousarray")?;
        let plain = function.call1((given,))?;
        check_shape(name, untyped(name, &plain)?, array.shape())?;
        let is_plain = untyped(name, &plain)?.is_c_contiguous();
        return Ok(is_plain && read_as::<T>(name, &plain, integers)?);
    }
    // SAFETY: no call of this module writes the array now. Nor can one begin, or any Python code run,
    // before the slice is gone: the interpreter is held, and nothing below asks it for anything.
    let numbers = unsafe { array.as_slice() }?;
    if let Some(number) = numbers.iter().find(|&&number| i64::try_from(number).is_err()) {
        let problem = format!("{name} has {number}: expected at most 2**63 - 1");
        return Err(ArrayError::new_err(problem));
    }
    integers.try_reserve(numbers.len()).map_err(|error| {
        PyMemoryError::new_err(format!("{name} of {} elements: {error}", numbers.len()))
    })?;
    // All can be, as was found above.
    integers.extend(numbers.iter().map(|&number| i64::try_from(number).unwrap_or_default()));
    Ok(true)
}

/// Refuses to read what a call in another thread writes.
fn check_not_written(
    name: &str,
    array: &Bound<'_, PyUntypedArray>,
    element_size: usize,
) -> PyResult<()> {
    let (mut start, mut end) = (data_address(array), data_address(array) + element_size);
    for (&length, &stride) in array.shape().iter().zip(array.strides()) {
        let reach = stride.unsigned_abs() * length.saturating_sub(1);
        if stride < 0 { start -= reach } else { end += reach }
    }
    if is_written(start..end) {
        return Err(ArrayError::new_err(format!("{name} is being written by another call")));
    }
    Ok(())
}

/// A mask of games.
pub(super) fn mask(name: &str, given: &Bound<'_, PyAny>, length: usize) -> PyResult<Vec<bool>> {
    typed::<bool>(name, given)?;
    check_shape(name, untyped(name, given)?, &[length])?;
    // As bytes, since the memory of a bool array may hold other values than 0 and 1.
    let bytes = given.call_method1("view", ("uint8",))?;
    let mut integers = Vec::with_capacity(length);
    let is_read = read_as::<u8>(name, &bytes, &mut integers)?;
    if !is_read || integers.len() != length {
        return Err(ArrayError::new_err(format!("{name} cannot be read as bytes")));
    }
    Ok(integers.into_iter().map(|byte| byte != 0).collect())
}
