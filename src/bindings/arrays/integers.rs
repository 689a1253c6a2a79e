//! Integers and masks that Python gives as arrays or sequences.

use numpy::PyUntypedArrayMethods;
use numpy::{Element, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use super::memory::{Number, check_dtype, check_shape, data_address, is_written, untyped};
use super::room::collect;
use crate::bindings::errors::ArrayError;

/// Integers as a numpy array, converted if they are an object with DLPack or a sequence. This may run
/// any Python code.
pub fn integer_array<'py>(name: &str, given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
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

/// Copies integers of any width. The copy is what is checked and played, so another thread that
/// changes the array has no effect.
pub fn read_integers(
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
            $(if read_as::<$type, i64>(name, given, integers)? {
                return Ok(());
            })+
        };
    }
    read!(i64, i32, i16, i8, u8, u16, u32, u64);
    let dtype = array.dtype();
    if dtype.kind() != b'i' && dtype.kind() != b'u' {
        return Err(ArrayError::new_err(format!("{name} has dtype {dtype}: expected integers")));
    }
    // Another byte order, another C type of the same width, or not aligned: numpy converts it.
    let plain = given.py().import("numpy")?.call_method1("array", (given, "int64"))?;
    check_shape(name, untyped(name, &plain)?, &[length])?;
    if read_as::<i64, i64>(name, &plain, integers)? {
        return Ok(());
    }
    Err(ArrayError::new_err(format!("{name} cannot be read as integers")))
}

/// Copies the numbers of an aligned array of this type; returns false for any other array.
fn read_as<T, U>(name: &str, given: &Bound<'_, PyAny>, integers: &mut Vec<U>) -> PyResult<bool>
where
    T: Element + Copy + std::fmt::Display,
    U: TryFrom<T> + Default,
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
        return Ok(is_plain && read_as::<T, U>(name, &plain, integers)?);
    }
    // SAFETY: no call of this module writes the array now. Nor can one begin, or any Python code run,
    // before the slice is gone: the interpreter is held, and nothing below asks it for anything.
    let numbers = unsafe { array.as_slice() }?;
    if let Some(number) = numbers.iter().find(|&&number| U::try_from(number).is_err()) {
        let problem = format!("{name} has {number}: expected at most 2**63 - 1");
        return Err(ArrayError::new_err(problem));
    }
    integers.try_reserve(numbers.len()).map_err(|error| {
        PyMemoryError::new_err(format!("{name} of {} elements: {error}", numbers.len()))
    })?;
    // No conversion fails, as was found above.
    integers.extend(numbers.iter().map(|&number| U::try_from(number).unwrap_or_default()));
    Ok(true)
}

/// Refuses an array that a call in another thread writes.
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
    if is_written(start, end) {
        return Err(ArrayError::new_err(format!("{name} is being written by another call")));
    }
    Ok(())
}

/// Reads a mask of games.
pub fn mask(name: &str, given: &Bound<'_, PyAny>, length: usize) -> PyResult<Vec<bool>> {
    let array = untyped(name, given)?;
    check_dtype(name, array, bool::TYPE)?;
    check_shape(name, array, &[length])?;
    // As bytes, since the memory of a bool array can hold other values than 0 and 1.
    let bytes = given.call_method1("view", ("uint8",))?;
    let bytes = copy_bytes(name, &bytes, length)?;
    collect(name, length, bytes.into_iter().map(|byte| byte != 0))
}

/// Reads a uint8 array of this shape.
pub fn bytes(name: &str, given: &Bound<'_, PyAny>, shape: &[usize]) -> PyResult<Vec<u8>> {
    let array = untyped(name, given)?;
    check_dtype(name, array, u8::TYPE)?;
    check_shape(name, array, shape)?;
    copy_bytes(name, given, shape.iter().product())
}

/// Copies the numbers of a uint8 array of this length.
fn copy_bytes(name: &str, given: &Bound<'_, PyAny>, length: usize) -> PyResult<Vec<u8>> {
    let mut bytes = Vec::new();
    let is_read = read_as::<u8, u8>(name, given, &mut bytes)?;
    if !is_read || bytes.len() != length {
        return Err(ArrayError::new_err(format!("{name} cannot be read as bytes")));
    }
    Ok(bytes)
}
