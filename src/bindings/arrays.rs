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
    claims: &mut Claims,
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
    let borrowed = buffer.try_readwrite().map_err(|error| {
        let problem = match error {
            numpy::BorrowError::NotWriteable => "is read-only: expected a writable array",
            _ => "overlaps another array in use: expected separate memory",
        };
        ArrayError::new_err(format!("{name} {problem}"))
    })?;
    claims.claim(name, &borrowed)?;
    Ok(borrowed)
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
            $(if let Some(integers) = read_as::<$type>(name, given)? {
                return Ok(integers);
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
    let integers = read_as::<i64>(name, &plain)?;
    integers.ok_or_else(|| ArrayError::new_err(format!("{name} cannot be read as integers")))
}

/// The numbers of an aligned array of this type, or `None` when it is another one.
fn read_as<T>(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Option<Vec<i64>>>
where
    T: Element + Copy + std::fmt::Display,
    i64: TryFrom<T>,
{
    let Ok(array) = given.cast::<PyArrayDyn<T>>() else {
        return Ok(None);
    };
    if array.data().align_offset(align_of::<T>()) != 0 {
        return Ok(None);
    }
    let array = array.try_readonly().map_err(|_| being_written(name))?;
    let wide = |&number: &T| {
        i64::try_from(number).map_err(|_| {
            ArrayError::new_err(format!("{name} has {number}: expected at most 2**63 - 1"))
        })
    };
    array.as_array().iter().map(wide).collect::<PyResult<_>>().map(Some)
}

fn being_written(name: &str) -> PyErr {
    ArrayError::new_err(format!("{name} is being written by another call"))
}

/// A mask of games.
pub(super) fn mask(name: &str, given: &Bound<'_, PyAny>, length: usize) -> PyResult<Vec<bool>> {
    let array = untyped(name, given)?;
    typed::<bool>(name, array)?;
    check_shape(name, array, &[length])?;
    // As bytes, since the memory of a bool array may hold other values than 0 and 1.
    let bytes = given.call_method1("view", ("uint8",))?;
    let bytes = bytes.cast::<PyArrayDyn<u8>>()?.try_readonly().map_err(|_| being_written(name))?;
    let bytes = bytes.as_array();
    if bytes.shape() != [length] {
        return Err(ArrayError::new_err(format!("{name} cannot be read as bytes")));
    }
    Ok(bytes.iter().map(|&byte| byte != 0).collect())
}

/// The memory of all buffers of a call, which must not overlap. numpy's own check compares the
/// owners of arrays, and two arrays of different owners may share memory all the same.
#[derive(Default)]
pub(super) struct Claims(Vec<(String, std::ops::Range<usize>)>);

impl Claims {
    pub fn claim<T: Element>(
        &mut self,
        name: &str,
        buffer: &PyReadwriteArrayDyn<'_, T>,
    ) -> PyResult<()> {
        let start = buffer.data() as usize;
        let range = start..start + size_of::<T>() * buffer.len();
        let overlaps =
            |other: &std::ops::Range<usize>| range.start < other.end && other.start < range.end;
        if let Some((other, _)) = self.0.iter().find(|(_, claimed)| overlaps(claimed)) {
            return Err(ArrayError::new_err(format!(
                "{name} overlaps {other}: expected separate memory"
            )));
        }
        self.0.push((name.to_owned(), range));
        Ok(())
    }
}
