//! numpy arrays as memory. An array is checked, then claimed for a call, then turned into a slice. What
//! a call writes, no other array of that call and no other call that runs at the same time may use.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};

use half::f16;
use numpy::npyffi::{
    _PyArray_GET_ITEM_DATA, _PyDataType_GET_ITEM_DATA, NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE,
    NPY_TYPES, NpyTypes, PyArrayObject_fields, get_type_object, npy_intp,
};
use numpy::{
    PY_ARRAY_API, PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::bindings::errors::ArrayError;
use crate::bindings::process::forks;

/// A numpy array of any type.
pub fn untyped<'a, 'py>(
    name: &str,
    given: &'a Bound<'py, PyAny>,
) -> PyResult<&'a Bound<'py, PyUntypedArray>> {
    check_not_masked(name, given)?;
    given.cast::<PyUntypedArray>().map_err(|_| {
        let found = given.get_type();
        ArrayError::new_err(format!("{name} is a {found}: expected a numpy array"))
    })
}

/// Refuses numpy's masked arrays: what lies under the mask would be read as if it were valid.
pub fn check_not_masked(name: &str, given: &Bound<'_, PyAny>) -> PyResult<()> {
    static MASKED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let is_subclass =
        given.is_instance_of::<PyUntypedArray>() && !given.is_exact_instance_of::<PyUntypedArray>();
    if is_subclass && given.is_instance(MASKED.import(given.py(), "numpy.ma", "MaskedArray")?)? {
        return Err(ArrayError::new_err(format!(
            "{name} is a masked array: expected one without a mask, such as {name}.filled(...)"
        )));
    }
    Ok(())
}

/// Checks the sizes of all axes.
pub fn check_shape(name: &str, array: &Bound<'_, PyUntypedArray>, shape: &[usize]) -> PyResult<()> {
    let found = array.shape();
    if found == shape {
        return Ok(());
    }
    Err(ArrayError::new_err(format!("{name} has shape {found:?}: expected {shape:?}")))
}

/// numpy's own record of an array.
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

/// A dtype of arrays whose memory is read or written.
pub struct NumberType {
    /// numpy's number for it.
    pub number: c_int,
    /// numpy's name for it.
    name: &'static str,
    /// Bytes of an element, which are also its alignment.
    size: usize,
}

/// A Rust type with its dtype.
pub trait Number: Copy {
    const TYPE: &'static NumberType;
}

macro_rules! numbers {
    ($($type:ty: $number:ident $name:literal),+ $(,)?) => {
        $(impl Number for $type {
            const TYPE: &'static NumberType = &NumberType {
                number: NPY_TYPES::$number as c_int,
                name: $name,
                size: size_of::<$type>(),
            };
        })+
    };
}

numbers! {
    f32: NPY_FLOAT "float32",
    f16: NPY_HALF "float16",
    u8: NPY_UBYTE "uint8",
    bool: NPY_BOOL "bool",
    i8: NPY_BYTE "int8",
    i32: NPY_INT "int32",
    u16: NPY_USHORT "uint16",
}

/// Python objects, which are `None` in a new array.
pub const OBJECTS: &NumberType = &NumberType {
    number: NPY_TYPES::NPY_OBJECT as c_int,
    name: "object",
    size: size_of::<usize>(),
};

/// What an array of a caller must be.
#[derive(Clone, Copy)]
pub struct ArraySpec<'s> {
    pub name: &'static str,
    pub dtype: &'static NumberType,
    pub shape: &'s [usize],
}

/// An array that was checked: its elements are of this type, aligned and without gaps, and it lives
/// for `'a`.
#[derive(Clone, Copy)]
pub struct CheckedArray<'a> {
    name: &'static str,
    dtype: &'static NumberType,
    /// The addresses of the first byte and of the byte after the last.
    start: usize,
    end: usize,
    array: PhantomData<&'a PyAny>,
}

impl CheckedArray<'_> {
    /// Number of bytes.
    pub const fn bytes(&self) -> usize {
        self.end - self.start
    }

    /// Whether the elements are of this type.
    fn is_of<T: Number>(&self) -> bool {
        self.dtype.number == T::TYPE.number
    }
}

const NOT_CONTIGUOUS: &str = "is not contiguous: expected C order";

impl ArraySpec<'_> {
    /// Checks an array that is written: its dtype, shape, layout, alignment, and that it is writable.
    /// Inlined, since the result would be stored and then loaded in wider pieces, which stalls: a tenth
    /// of a step of one game.
    #[inline(always)]
    pub fn check_output<'a>(&self, given: &'a Bound<'_, PyAny>) -> PyResult<CheckedArray<'a>> {
        let array = untyped(self.name, given)?;
        check_dtype(self.name, array, self.dtype)?;
        check_shape(self.name, array, self.shape)?;
        let address = data_address(array);
        let problem = if !array.is_c_contiguous() {
            NOT_CONTIGUOUS
        } else if !address.is_multiple_of(self.dtype.size) {
            "is not aligned: expected an aligned array"
        } else if fields(array).flags & NPY_ARRAY_WRITEABLE == 0 {
            "is read-only: expected a writable array"
        } else {
            return Ok(self.checked(array));
        };
        Err(ArrayError::new_err(format!("{} {problem}", self.name)))
    }

    /// Whether an array that was handed out is still what `new_array` made.
    pub fn is_unchanged(&self, array: &Bound<'_, PyAny>) -> bool {
        self.check_output(array).is_ok()
            && array
                .cast::<PyUntypedArray>()
                .is_ok_and(|array| fields(array).flags & NPY_ARRAY_OWNDATA != 0)
    }

    fn checked<'a>(&self, array: &'a Bound<'_, PyUntypedArray>) -> CheckedArray<'a> {
        let start = data_address(array);
        let length: usize = self.shape.iter().product();
        let end = start + length * self.dtype.size;
        CheckedArray { name: self.name, dtype: self.dtype, start, end, array: PhantomData }
    }

    /// A new array, which owns its memory. Its numbers are not initialised.
    pub fn new_array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut shape: Vec<npy_intp> = self.shape.iter().map(|&size| size as npy_intp).collect();
        // SAFETY: the interpreter is held, and the number is that of a dtype of numpy's own, which is
        // never missing.
        let dtype = unsafe { PY_ARRAY_API.PyArray_DescrFromType(py, self.dtype.number) };
        let axes = shape.len() as c_int;
        // SAFETY: `shape` has a size for each axis, and the call takes over the reference to `dtype`.
        let array = unsafe { PY_ARRAY_API.PyArray_Empty(py, axes, shape.as_mut_ptr(), dtype, 0) };
        // SAFETY: the result is a new reference, or null with the exception set.
        unsafe { Bound::from_owned_ptr_or_err(py, array) }
    }

    /// A view of one part of an array that `new_array` made, whose parts are of this kind. numpy's own
    /// indexing takes twice as long.
    ///
    /// # Panics
    /// If the array has no such part.
    pub fn view<'py>(
        &self,
        array: &Bound<'py, PyAny>,
        index: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = array.py();
        let whole = array.cast::<PyUntypedArray>()?;
        assert!(index < whole.shape()[0] && whole.shape()[1..] == *self.shape);
        let part = self.shape.iter().product::<usize>() * self.dtype.size;
        let address = data_address(whole) + index * part;
        let mut shape: Vec<npy_intp> = self.shape.iter().map(|&size| size as npy_intp).collect();
        let (axes, strides) = (shape.len() as c_int, std::ptr::null_mut());
        let data = std::ptr::with_exposed_provenance_mut(address);
        // SAFETY: as in `new_array`.
        let dtype = unsafe { PY_ARRAY_API.PyArray_DescrFromType(py, self.dtype.number) };
        // SAFETY: the interpreter is held, and numpy's array type is never missing.
        let class = unsafe { get_type_object(py, NpyTypes::PyArray_Type) };
        // SAFETY: `shape` has a size for each axis, the call takes over the reference to `dtype`, and the
        // part lies within the memory of `array`, contiguous and aligned as that is.
        let view = unsafe {
            PY_ARRAY_API.PyArray_NewFromDescr(
                py,
                class,
                dtype,
                axes,
                shape.as_mut_ptr(),
                strides,
                data,
                NPY_ARRAY_WRITEABLE,
                std::ptr::null_mut(),
            )
        };
        // SAFETY: the result is a new reference, or null with the exception set.
        let view = unsafe { Bound::from_owned_ptr_or_err(py, view) }?;
        let base = array.clone().into_ptr();
        // SAFETY: both are live arrays, and the call takes over the reference to `base`, by which the
        // memory lives as long as the view.
        if unsafe { PY_ARRAY_API.PyArray_SetBaseObject(py, view.as_ptr().cast(), base) } < 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(view)
    }

    /// The memory of an array that `new_array` made, or that `is_unchanged` has found to be like one,
    /// if no Python code has run since.
    pub fn trusted<'a>(&self, array: &'a Bound<'_, PyAny>) -> CheckedArray<'a> {
        let array = array.cast::<PyUntypedArray>();
        self.checked(array.expect("numpy makes arrays"))
    }
}

/// Checks bytes that are read: of any shape, without gaps.
pub fn check_bytes<'a, 'py>(
    name: &'static str,
    given: &'a Bound<'py, PyAny>,
) -> PyResult<(&'a Bound<'py, PyUntypedArray>, CheckedArray<'a>)> {
    let array = untyped(name, given)?;
    check_dtype(name, array, u8::TYPE)?;
    if !array.is_c_contiguous() {
        return Err(ArrayError::new_err(format!("{name} {NOT_CONTIGUOUS}")));
    }
    let spec = ArraySpec { name, dtype: u8::TYPE, shape: array.shape() };
    Ok((array, spec.checked(array)))
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
    let (found, expected) = (array.dtype(), PyArrayDescr::new(array.py(), dtype.name)?);
    if found.is_equiv_to(&expected) {
        return Ok(());
    }
    Err(ArrayError::new_err(format!("{name} has dtype {found}: expected {expected}")))
}

/// How a call that has released the interpreter uses a range of addresses. Addresses are compared
/// since numpy's owners do not tell: arrays of different owners can share memory.
#[derive(Clone, Copy)]
struct Use {
    /// The value of `forks` when the call began. A child that was forked meanwhile has a copy of the
    /// memory, and no thread that would ever end the call.
    forks: u32,
    call: u64,
    start: usize,
    end: usize,
    writes: bool,
}

/// What the calls that have released the interpreter use now. The lock is held for a few comparisons
/// at a time, during which no Python code runs: so it is free whenever Python forks.
struct Running {
    uses: Vec<Use>,
    /// The number of the next call.
    next: u64,
}

fn running() -> MutexGuard<'static, Running> {
    static RUNNING: Mutex<Running> = Mutex::new(Running { uses: Vec::new(), next: 0 });
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let forks = forks();
    running.uses.retain(|other| other.forks == forks);
    running
}

/// Whether a call that has released the interpreter writes any of this memory.
pub fn is_written(start: usize, end: usize) -> bool {
    let writes = |other: &Use| other.writes && other.start < end && start < other.end;
    running().uses.iter().any(writes)
}

/// An array of a call.
#[derive(Clone, Copy)]
struct Claim<'a> {
    array: CheckedArray<'a>,
    writes: bool,
}

impl Claim<'_> {
    /// Whether one of two uses writes memory of both. Without short circuits, since a mispredicted
    /// branch costs more than the comparisons.
    #[inline]
    const fn excludes(&self, start: usize, end: usize, writes: bool) -> bool {
        (self.writes | writes) & (self.array.start < end) & (start < self.array.end)
    }
}

/// The memory of a call's arrays, and whether it is written, once they were found not to overlap: a
/// step of one game takes a tenth longer where that is found anew.
pub struct Apart<const N: usize>([(usize, usize, bool); N]);

impl<const N: usize> Default for Apart<N> {
    fn default() -> Apart<N> {
        Apart([(0, 0, false); N])
    }
}

/// The arrays of one call and how it uses them; `None` for a parameter that was not given.
pub struct Claims<'a, const N: usize> {
    claims: [Option<Claim<'a>>; N],
    /// Whether the arrays may share memory, which those of our own do not.
    may_overlap: bool,
}

impl<'a, const N: usize> Claims<'a, N> {
    pub const fn none() -> Claims<'a, N> {
        Claims { claims: [None; N], may_overlap: false }
    }

    /// Claims an array of a caller for writing.
    pub fn write(&mut self, index: usize, array: CheckedArray<'a>) {
        self.claims[index] = Some(Claim { array, writes: true });
        self.may_overlap = true;
    }

    /// Claims a new array for writing, whose memory belongs to no other array.
    pub fn write_own(&mut self, index: usize, array: CheckedArray<'a>) {
        self.claims[index] = Some(Claim { array, writes: true });
    }

    /// Claims an array of a caller for reading.
    pub fn read(&mut self, index: usize, array: CheckedArray<'a>) {
        self.claims[index] = Some(Claim { array, writes: false });
        self.may_overlap = true;
    }

    /// Checks that no array of the call is written where another is used, unless they are `known`.
    fn check_apart(&self, known: &mut Apart<N>) -> PyResult<()> {
        let memory = |claim: &Claim<'_>| (claim.array.start, claim.array.end, claim.writes);
        let mut pairs = self.claims.iter().zip(&known.0);
        if pairs.all(|(own, known)| own.as_ref().is_none_or(|own| memory(own) == *known)) {
            return Ok(());
        }
        let claims = self.claims.iter().flatten();
        for (index, own) in claims.clone().enumerate() {
            let CheckedArray { name, start, end, .. } = own.array;
            let mut before = claims.clone().take(index);
            if let Some(other) = before.find(|other| other.excludes(start, end, own.writes)) {
                let other = other.array.name;
                return Err(ArrayError::new_err(format!(
                    "{name} overlaps {other}: expected separate memory"
                )));
            }
        }
        known.0 = self.claims.each_ref().map(|own| own.as_ref().map_or((0, 0, false), memory));
        Ok(())
    }

    /// Reserves the memory for the call as long as the result lives. A call that keeps the
    /// interpreter need not be listed: no other can begin before its end. `known` has the arrays of an
    /// earlier call that did not overlap; afterwards it has those of this call.
    pub fn hold(
        &mut self,
        known: &mut Apart<N>,
        keeps_interpreter: bool,
    ) -> PyResult<Held<'_, 'a, N>> {
        if self.may_overlap {
            self.check_apart(known)?;
        }
        let mut running = running();
        self.check_unused(&running)?;
        if keeps_interpreter {
            return Ok(Held { claims: self, call: None });
        }
        let call = running.next;
        running.next += 1;
        let forks = forks();
        running.uses.extend(self.claims.iter().flatten().map(|claim| {
            let CheckedArray { start, end, .. } = claim.array;
            Use { forks, call, start, end, writes: claim.writes }
        }));
        Ok(Held { claims: self, call: Some(call) })
    }

    fn check_unused(&self, running: &Running) -> PyResult<()> {
        for other in &running.uses {
            let mut own = self.claims.iter().flatten();
            if let Some(own) = own.find(|own| own.excludes(other.start, other.end, other.writes)) {
                let problem = if own.writes {
                    "overlaps another array in use: expected separate memory"
                } else {
                    "is being written by another call"
                };
                return Err(ArrayError::new_err(format!("{} {problem}", own.array.name)));
            }
        }
        Ok(())
    }
}

/// Memory that is reserved for a running call.
pub struct Held<'c, 'a, const N: usize> {
    claims: &'c Claims<'a, N>,
    /// The call's number if it has released the interpreter.
    call: Option<u64>,
}

impl<const N: usize> Held<'_, '_, N> {
    /// The memory of each array, to be turned into a slice once.
    #[inline]
    pub fn memory(&mut self) -> [Option<Memory<'_>>; N] {
        let memory = |Claim { array, writes }| Memory { array, writes, held: PhantomData };
        std::array::from_fn(|index| self.claims.claims[index].map(memory))
    }
}

impl<const N: usize> Drop for Held<'_, '_, N> {
    fn drop(&mut self) {
        if let Some(own) = self.call {
            running().uses.retain(|other| other.call != own);
        }
    }
}

/// The memory of one array of a running call. It cannot be copied, so that there is one slice of it.
pub struct Memory<'b> {
    array: CheckedArray<'b>,
    writes: bool,
    held: PhantomData<&'b mut u8>,
}

impl<'b> Memory<'b> {
    /// The elements, to be written.
    pub fn write<T: Number>(self) -> &'b mut [T] {
        assert!(self.writes && self.array.is_of::<T>(), "claimed to be written as this type");
        let pointer = std::ptr::with_exposed_provenance_mut(self.array.start);
        let length = self.array.bytes() / size_of::<T>();
        // SAFETY: `CheckedArray` says that `length` elements of `T` lie here, aligned, and that the
        // array lives for `'b`. `check_apart` and `hold` found that nothing else uses them meanwhile,
        // and `Held::memory` gives each memory out once while the call is mutably borrowed. The elements
        // are numbers, or bools that are only written.
        unsafe { std::slice::from_raw_parts_mut(pointer, length) }
    }

    /// The numbers, to be read.
    ///
    /// # Panics
    /// If the array has another type, or holds bools: their bytes may have been set to anything.
    pub fn numbers<T: Number>(self) -> &'b [T] {
        assert!(self.array.is_of::<T>() && !self.array.is_of::<bool>(), "claimed as these numbers");
        let pointer = std::ptr::with_exposed_provenance(self.array.start);
        let length = self.array.bytes() / size_of::<T>();
        // SAFETY: as in `write`, but others may read the numbers too. Every pattern of bits is a number.
        unsafe { std::slice::from_raw_parts(pointer, length) }
    }

    /// The bytes, to be read.
    pub fn read(self) -> &'b [u8] {
        self.numbers::<u8>()
    }
}
