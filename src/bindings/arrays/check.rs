//! Checks of numpy arrays, and new arrays.

use std::ffi::c_int;
use std::marker::PhantomData;

use numpy::npyffi::{
    _PyArray_GET_ITEM_DATA, _PyDataType_GET_ITEM_DATA, NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE,
    PyArrayObject_fields, npy_intp,
};
use numpy::{
    PY_ARRAY_API, PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use super::numbers::NumberType;
use crate::bindings::errors::ArrayError;

/// numpy's record of an array.
fn fields<'a>(array: &'a Bound<'_, PyUntypedArray>) -> &'a PyArrayObject_fields {
    // SAFETY: the array is a live numpy array and is borrowed for `'a`. The interpreter is held, so
    // nothing changes the record while it is read.
    unsafe { &*_PyArray_GET_ITEM_DATA(array.as_array_ptr()) }
}

/// The address of the first element.
pub fn data_address(array: &Bound<'_, PyUntypedArray>) -> usize {
    fields(array).data as usize
}

/// numpy's number for an array's dtype, in the byte order of this machine; `None` in another.
pub fn type_number(array: &Bound<'_, PyUntypedArray>) -> Option<c_int> {
    // SAFETY: a live array has a live dtype, and the interpreter is held.
    let dtype = unsafe { &*_PyDataType_GET_ITEM_DATA(fields(array).descr) };
    matches!(dtype.byteorder as u8, b'=' | b'|').then_some(dtype.type_num)
}

/// The error for an array of another dtype than those allowed.
pub fn wrong_dtype(name: &str, array: &Bound<'_, PyUntypedArray>, allowed: &[&str]) -> PyErr {
    let (last, first) = allowed.split_last().expect("some dtype is allowed");
    let separator = if first.is_empty() { "" } else { " or " };
    let (found, first) = (array.dtype(), first.join(", "));
    ArrayError::new_err(format!("{name} has dtype {found}: expected {first}{separator}{last}"))
}

/// Reads a numpy array of any dtype. Refuses masked arrays: the values under a mask would be read as if
/// they were valid.
pub fn untyped<'a, 'py>(
    name: &str,
    given: &'a Bound<'py, PyAny>,
) -> PyResult<&'a Bound<'py, PyUntypedArray>> {
    static MASKED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let array = given.cast::<PyUntypedArray>().map_err(|_| {
        let found = given.get_type();
        ArrayError::new_err(format!("{name} is a {found}: expected a numpy array"))
    })?;
    if given.is_exact_instance_of::<PyUntypedArray>() {
        return Ok(array);
    }
    // The class is asked for, not `isinstance`, which may run Python code that changes other arrays.
    let masked = MASKED.import(given.py(), "numpy.ma", "MaskedArray")?;
    if given.get_type().is_subclass(masked)? {
        return Err(ArrayError::new_err(format!(
            "{name} is a masked array: expected one without a mask, such as {name}.filled(...)"
        )));
    }
    Ok(array)
}

/// Checks the sizes of all axes.
pub fn check_shape(name: &str, array: &Bound<'_, PyUntypedArray>, shape: &[usize]) -> PyResult<()> {
    let found = array.shape();
    if found == shape {
        return Ok(());
    }
    Err(ArrayError::new_err(format!("{name} has shape {found:?}: expected {shape:?}")))
}

/// Checks the dtype of an array.
pub fn check_dtype(
    name: &str,
    array: &Bound<'_, PyUntypedArray>,
    dtype: &NumberType,
) -> PyResult<()> {
    if type_number(array) == Some(dtype.number) {
        return Ok(());
    }
    // numpy has several numbers for one dtype where two C types are the same.
    if array.dtype().is_equiv_to(&PyArrayDescr::new(array.py(), dtype.name)?) {
        return Ok(());
    }
    Err(wrong_dtype(name, array, &[dtype.name]))
}

/// An array that was checked: its elements are of this type, aligned and without gaps, and it lives
/// for `'a`.
#[derive(Clone, Copy)]
pub struct CheckedArray<'a> {
    pub(super) name: &'static str,
    /// `None` for memory that only numpy or Python reads.
    pub(super) dtype: Option<&'static NumberType>,
    /// The addresses of the first byte and of the byte after the last.
    pub(super) start: usize,
    pub(super) end: usize,
    array: PhantomData<&'a PyAny>,
}

impl<'a> CheckedArray<'a> {
    /// The memory of an array of any dtype and layout.
    pub(super) fn extent(
        name: &'static str,
        array: &'a Bound<'_, PyUntypedArray>,
    ) -> CheckedArray<'a> {
        let start = data_address(array);
        let (mut start, mut end) = (start, start + array.dtype().itemsize());
        for (&length, &stride) in array.shape().iter().zip(array.strides()) {
            let reach = stride.unsigned_abs() * length.saturating_sub(1);
            if stride < 0 { start -= reach } else { end += reach }
        }
        CheckedArray { name, dtype: None, start, end, array: PhantomData }
    }

    /// Number of bytes.
    pub const fn bytes(&self) -> usize {
        self.end - self.start
    }
}

/// What a call does with an array.
#[derive(Clone, Copy, PartialEq)]
pub enum Access {
    Read,
    Write,
}

/// What an array must be.
#[derive(Clone, Copy)]
pub struct ArraySpec<'s> {
    pub name: &'static str,
    pub dtype: &'static NumberType,
    pub shape: &'s [usize],
}

impl ArraySpec<'_> {
    /// Checks the dtype, the shape, the layout and the alignment of an array, and that an array that is
    /// written is writable. Inlined, since the result would be stored and then loaded in wider pieces,
    /// which stalls: a tenth of a step of one game.
    #[inline(always)]
    pub fn check<'a>(
        &self,
        given: &'a Bound<'_, PyAny>,
        access: Access,
    ) -> PyResult<CheckedArray<'a>> {
        let array = untyped(self.name, given)?;
        check_dtype(self.name, array, self.dtype)?;
        check_shape(self.name, array, self.shape)?;
        let problem = if !array.is_c_contiguous() {
            "is not contiguous: expected C order"
        } else if !data_address(array).is_multiple_of(self.dtype.size) {
            "is not aligned: expected an aligned array"
        } else if access == Access::Write && fields(array).flags & NPY_ARRAY_WRITEABLE == 0 {
            "is read-only: expected a writable array"
        } else {
            return Ok(self.trusted(array));
        };
        Err(ArrayError::new_err(format!("{} {problem}", self.name)))
    }

    /// Whether an array that was handed out is still what `new_array` made.
    pub fn is_unchanged(&self, array: &Bound<'_, PyUntypedArray>) -> bool {
        self.check(array, Access::Write).is_ok() && fields(array).flags & NPY_ARRAY_OWNDATA != 0
    }

    /// The memory of an array of which `check` is known to hold: one that `new_array` made, or that
    /// `is_unchanged` has found to be like one, if no Python code has run since.
    pub fn trusted<'a>(&self, array: &'a Bound<'_, PyUntypedArray>) -> CheckedArray<'a> {
        let (start, dtype) = (data_address(array), Some(self.dtype));
        let end = start + self.bytes();
        CheckedArray { name: self.name, dtype, start, end, array: PhantomData }
    }

    /// A new array, which owns its memory. Its numbers are not defined.
    pub fn new_array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyUntypedArray>> {
        let mut shape: Vec<npy_intp> = self.shape.iter().map(|&size| size as npy_intp).collect();
        // SAFETY: the interpreter is held, and the number is that of a dtype of numpy's own, which is
        // never missing.
        let dtype = unsafe { PY_ARRAY_API.PyArray_DescrFromType(py, self.dtype.number) };
        let axes = shape.len() as c_int;
        // SAFETY: `shape` has a size for each axis, and the call takes over the reference to `dtype`.
        let array = unsafe { PY_ARRAY_API.PyArray_Empty(py, axes, shape.as_mut_ptr(), dtype, 0) };
        // SAFETY: the result is a new reference, or null with the exception set.
        let array = unsafe { Bound::from_owned_ptr_or_err(py, array) }?;
        Ok(array.cast_into()?)
    }

    /// Number of bytes.
    fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.size
    }
}

/// Evaluates an expression with a type name that stands for the type of the elements of an array: one
/// of those listed.
macro_rules! for_dtype {
    ($name:literal, $array:expr, [$($type:ty),+], $T:ident => $body:expr) => {{
        let array = $array;
        let number = $crate::bindings::arrays::check::type_number(array);
        $(if number == Some(<$type as $crate::bindings::arrays::numbers::Number>::TYPE.number) {
            type $T = $type;
            $body
        } else)+ {
            let allowed = [$(<$type as $crate::bindings::arrays::numbers::Number>::TYPE.name),+];
            Err($crate::bindings::arrays::check::wrong_dtype($name, array, &allowed))
        }
    }};
}

pub(crate) use for_dtype;
