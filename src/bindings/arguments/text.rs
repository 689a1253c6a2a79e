//! Text arguments: any Python `str`, also one with lone surrogates.

use std::fmt;
use std::ops::Deref;

use pyo3::prelude::*;
use pyo3::types::PyString;

/// Text that Python gives. Python's text may hold lone surrogates, which no name has and UTF-8 cannot
/// express. They are replaced by their escapes, such as `\udc80`, so that the text is refused like any
/// other unknown name.
#[derive(Clone)]
pub struct Text(String);

impl fmt::Debug for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text(text.to_owned())
    }
}

impl From<Text> for String {
    fn from(text: Text) -> String {
        text.0
    }
}

impl<'py> FromPyObject<'_, 'py> for Text {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Text> {
        let text = object.cast::<PyString>()?;
        if let Ok(text) = text.to_str() {
            return Ok(text.into());
        }
        let bytes = text.call_method1("encode", ("utf-8", "backslashreplace"))?;
        Ok(Text(String::from_utf8_lossy(bytes.extract()?).into_owned()))
    }
}
