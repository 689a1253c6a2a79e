//! Partners as Python gives them, and back.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping};

use super::numbers::{Integer, seat as read_seat, wrong_type};
use crate::batch::Partners;

/// Reads a mapping from seats to a bot's name, or to a sequence of names.
pub(super) fn read_partners(given: &Bound<'_, PyAny>, players: u8) -> PyResult<Partners> {
    let expected = "a dict from seats to a bot's name or a sequence of names";
    let mapping = given.cast::<PyMapping>().map_err(|_| wrong_type("partners", given, expected))?;
    let mut partners = Partners::default();
    for item in mapping.items()? {
        let (seat, names): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        let number: Integer =
            seat.extract().map_err(|_| wrong_type("partners: seat", &seat, "an integer"))?;
        let seat = read_seat("partners: seat", &number, players)?;
        let name = format!("partners[{seat}]");
        let names = match names.extract::<String>() {
            Ok(one) => vec![one],
            Err(_) => names
                .extract::<Vec<String>>()
                .map_err(|_| wrong_type(&name, &names, "a bot's name or a sequence of names"))?,
        };
        partners = partners.with(seat, &names)?;
    }
    Ok(partners)
}

/// The partners as they were given: a name for a seat, or a list of names.
pub(super) fn partners_dict<'py>(
    py: Python<'py>,
    partners: &Partners,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (seat, names) in partners.names() {
        match names.as_slice() {
            [name] => dict.set_item(seat, name)?,
            names => dict.set_item(seat, PyList::new(py, names)?)?,
        }
    }
    Ok(dict)
}
