//! Copies of the arrays that a call reads before it starts: actions, masks, decks, hidden states. The copy
//! is what is checked and used, so another thread that changes the array later has no effect.

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyMemoryView};

use super::check::{
    Access, ArraySpec, CheckedArray, check_dtype, check_shape, data_address, type_number, untyped,
};
use super::claims::{Claims, Interpreter};
use super::numbers::Number;
use super::vectors::{collect, reserve};
use crate::bindings::errors::ArrayError;

/// Calls `read` with the numbers of an array in C order. `read` runs no Python code.
pub fn read_numbers<T: Number, R>(
    name: &'static str,
    array: &Bound<'_, PyUntypedArray>,
    read: impl FnOnce(&[T]) -> PyResult<R>,
) -> PyResult<R> {
    let py = array.py();
    // numpy has two numbers for one dtype where two C types are the same, and converts neither to the other.
    let is_native = check_dtype(name, array, T::TYPE).is_ok();
    let is_aligned = data_address(array).is_multiple_of(T::TYPE.size);
    if !(is_native && is_aligned && array.is_c_contiguous()) {
        // Python code that runs meanwhile may set `array.shape`, which frees the numbers.
        let shape = &array.shape().to_vec()[..];
        let plain = while_read(name, array, || {
            let order = [("order", "C")].into_py_dict(py)?;
            py.import("numpy")?.call_method("array", (array, T::TYPE.name), Some(&order))
        })?;
        let spec = ArraySpec { name, dtype: T::TYPE, shape };
        spec.check(&plain, Access::Read)?;
        return read_numbers(name, untyped(name, &plain)?, read);
    }
    let mut claims = Claims::<1>::none();
    claims.read(0, ArraySpec { name, dtype: T::TYPE, shape: array.shape() }.trusted(array));
    let mut reserved = claims.reserve(Interpreter::Kept)?;
    let [Some(memory)] = reserved.memory() else { unreachable!("it is claimed") };
    read(memory.read())
}

/// Makes a call that reads an object through Python or numpy, which may let other threads run. No step
/// writes the object's memory meanwhile, and it is not a masked array.
pub fn while_read<R>(
    name: &'static str,
    given: &Bound<'_, PyAny>,
    call: impl FnOnce() -> PyResult<R>,
) -> PyResult<R> {
    let Some(array) = as_array_if_memory(name, given)? else { return call() };
    let mut claims = Claims::<1>::none();
    claims.read(0, CheckedArray::extent(name, untyped(name, &array)?));
    let reserved = claims.reserve(Interpreter::Released)?;
    let result = call();
    drop(reserved);
    result
}

/// An array with the memory of an object: an array, or what has DLPack or is a memoryview. `None` for
/// another object.
fn as_array_if_memory<'py>(
    name: &str,
    given: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    static FROM_DLPACK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if given.is_instance_of::<PyUntypedArray>() {
        return Ok(Some(given.clone()));
    }
    if given.hasattr("__dlpack__")? {
        return convert(name, given, "from_dlpack", &FROM_DLPACK).map(Some);
    }
    given.is_instance_of::<PyMemoryView>().then(|| as_array(name, given)).transpose()
}

fn as_array<'py>(name: &str, given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static AS_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    convert(name, given, "asarray", &AS_ARRAY)
}

/// Calls a function of numpy that makes an array.
fn convert<'py>(
    name: &str,
    given: &Bound<'py, PyAny>,
    function: &str,
    known: &PyOnceLock<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = given.py();
    known.import(py, "numpy", function)?.call1((given,)).map_err(|error| {
        ArrayError::new_err(format!("{name} cannot be read as an array: {}", error.value(py)))
    })
}

/// Integers as a numpy array, converted if they are an object with DLPack or a sequence. This may run
/// any Python code.
pub fn integer_array<'py>(name: &str, given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let array = as_array_if_memory(name, given)?.map_or_else(|| as_array(name, given), Ok)?;
    let untyped = untyped(name, &array)?;
    if untyped.ndim() == 0 && untyped.dtype().kind() == b'O' {
        let kind = given.get_type().name()?;
        return Err(ArrayError::new_err(format!(
            "{name} is a {kind}: expected an array of integers"
        )));
    }
    Ok(array)
}

/// Copies integers of any width.
pub fn read_integers(
    name: &'static str,
    given: &Bound<'_, PyAny>,
    shape: &[usize],
    integers: &mut Vec<i64>,
) -> PyResult<()> {
    let array = untyped(name, given)?;
    check_shape(name, array, shape)?;
    integers.clear();
    macro_rules! read_as {
        ($($type:ty),+) => {
            $(if type_number(array) == Some(<$type>::TYPE.number) {
                return read_numbers(name, array, |numbers: &[$type]| extend(name, integers, numbers));
            })+
        };
    }
    read_as!(i64, i32, i16, i8, u8, u16, u32, u64);
    let dtype = array.dtype();
    if dtype.kind() != b'i' && dtype.kind() != b'u' {
        return Err(ArrayError::new_err(format!("{name} has dtype {dtype}: expected integers")));
    }
    // Another byte order, or another C type of the same width: numpy converts it.
    read_numbers(name, array, |numbers: &[i64]| extend(name, integers, numbers))
}

/// Appends numbers that fit.
fn extend<T>(name: &str, integers: &mut Vec<i64>, numbers: &[T]) -> PyResult<()>
where
    T: Number + std::fmt::Display,
    i64: TryFrom<T>,
{
    if let Some(number) = numbers.iter().find(|&&number| i64::try_from(number).is_err()) {
        let problem = format!("{name} has {number}: expected at most 2**63 - 1");
        return Err(ArrayError::new_err(problem));
    }
    reserve(name, integers, numbers.len())?;
    // No conversion fails, as was found above.
    integers.extend(numbers.iter().map(|&number| i64::try_from(number).unwrap_or_default()));
    Ok(())
}

/// Copies integers of any width from an array with one axis.
pub fn integers(name: &'static str, given: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    let array = integer_array(name, given)?;
    let length = untyped(name, &array)?.shape().iter().product();
    let mut integers = Vec::new();
    if length > 0 {
        // numpy makes an array of floats of an empty list
        read_integers(name, &array, &[length], &mut integers)?;
    }
    Ok(integers)
}

/// Copies a mask of games.
pub fn mask(name: &'static str, given: &Bound<'_, PyAny>, length: usize) -> PyResult<Vec<bool>> {
    let array = untyped(name, given)?;
    check_dtype(name, array, bool::TYPE)?;
    check_shape(name, array, &[length])?;
    // As bytes, since the memory of a bool array can hold other values than 0 and 1.
    let bytes = given.call_method1("view", ("uint8",))?;
    let bytes = copy::<u8>(name, &bytes, &[length])?;
    collect(name, length, bytes.into_iter().map(|byte| byte != 0))
}

/// Copies the numbers of an array of this dtype and shape.
pub fn copy<T: Number>(
    name: &'static str,
    given: &Bound<'_, PyAny>,
    shape: &[usize],
) -> PyResult<Vec<T>> {
    let array = untyped(name, given)?;
    check_dtype(name, array, T::TYPE)?;
    check_shape(name, array, shape)?;
    let copied = |numbers: &[T]| collect(name, numbers.len(), numbers.iter().copied());
    read_numbers(name, array, copied)
}
