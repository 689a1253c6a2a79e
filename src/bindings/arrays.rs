//! Arrays that Python gave: every property is checked and named before a slice is made.

use numpy::{
    Element, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyReadwriteArrayDyn, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use super::errors::ArrayError;

fn untyped<'a, 'py>(
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

fn typed<'a, 'py, T: Element>(
    name: &str,
    array: &'a Bound<'py, PyUntypedArray>,
) -> PyResult<&'a Bound<'py, PyArrayDyn<T>>> {
    array.cast::<PyArrayDyn<T>>().map_err(|_| {
        let (found, expected) = (array.dtype(), T::get_dtype(array.py()));
        ArrayError::new_err(format!("{name} has dtype {found}: expected {expected}"))
    })
}

/// A caller's buffer of this shape: writable, contiguous, aligned, and overlapping no other one in
/// use. It stays borrowed as long as the result lives.
pub(super) fn output<'py, T: Element>(
    name: &str,
    given: &Bound<'py, PyAny>,
    shape: &[usize],
) -> PyResult<PyReadwriteArrayDyn<'py, T>> {
    let array = untyped(name, given)?;
    let buffer = typed::<T>(name, array)?;
    check_shape(name, array, shape)?;
    if !array.is_c_contiguous() {
        return Err(ArrayError::new_err(format!("{name} is not contiguous: expected C order")));
    }
    if buffer.data().align_offset(align_of::<T>()) != 0 {
        return Err(ArrayError::new_err(format!(
            "{name} is not aligned: expected an aligned array"
        )));
    }
    buffer.try_readwrite().map_err(|error| {
        let problem = match error {
            numpy::BorrowError::NotWriteable => "is read-only: expected a writable array",
            _ => "overlaps another array of the call: expected separate memory",
        };
        ArrayError::new_err(format!("{name} {problem}"))
    })
}

/// The slice of a checked buffer.
pub(super) fn slice<'a, T: Element>(
    buffer: &'a mut PyReadwriteArrayDyn<'_, T>,
) -> PyResult<&'a mut [T]> {
    buffer.as_slice_mut().map_err(|_| ArrayError::new_err("expected a contiguous array"))
}

/// Integers of any width: a numpy array, anything with DLPack, or a sequence.
pub(super) fn integers(name: &str, given: &Bound<'_, PyAny>, length: usize) -> PyResult<Vec<i64>> {
    let py = given.py();
    if given.cast::<PyUntypedArray>().is_ok() {
        return read_integers(name, given, length);
    }
    let numpy = py.import("numpy")?;
    let function = if given.hasattr("__dlpack__")? { "from_dlpack" } else { "asarray" };
    let array = numpy.call_method1(function, (given,)).map_err(|error| {
        ArrayError::new_err(format!("{name} cannot be read as an array: {}", error.value(py)))
    })?;
    read_integers(name, &array, length)
}

fn read_integers(name: &str, given: &Bound<'_, PyAny>, length: usize) -> PyResult<Vec<i64>> {
    let array = untyped(name, given)?;
    check_shape(name, array, &[length])?;
    macro_rules! read {
        ($($type:ty),+) => {
            $(if let Ok(array) = array.cast::<PyArrayDyn<$type>>() {
                let array = array.try_readonly().map_err(|_| {
                    ArrayError::new_err(format!("{name} is being written by another call"))
                })?;
                let wide = |&number: &$type| i64::try_from(number).unwrap_or(i64::MAX);
                return Ok(array.as_array().iter().map(wide).collect());
            })+
        };
    }
    read!(i64, i32, i16, i8, u8, u16, u32, u64);
    let dtype = array.dtype();
    if dtype.kind() == b'i' || dtype.kind() == b'u' {
        // Another byte order or another name of the same width.
        let native = given.call_method1("astype", ("int64",))?;
        return read_integers(name, &native, length);
    }
    Err(ArrayError::new_err(format!("{name} has dtype {dtype}: expected integers")))
}

/// A mask of games.
pub(super) fn mask(name: &str, given: &Bound<'_, PyAny>, length: usize) -> PyResult<Vec<bool>> {
    let array = untyped(name, given)?;
    typed::<bool>(name, array)?;
    check_shape(name, array, &[length])?;
    // As bytes, since the memory of a bool array may hold other values than 0 and 1.
    let bytes = given.call_method1("view", ("uint8",))?;
    let bytes = bytes.cast::<PyArrayDyn<u8>>()?.readonly();
    Ok(bytes.as_array().iter().map(|&byte| byte != 0).collect())
}
