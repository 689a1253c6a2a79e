//! Partners as Python gives them, and back.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping};

use super::numbers::{Integer, seat as read_seat, wrong_type};
use crate::batch::Partners;

/// Reads a mapping from seats to who holds them, or to a sequence of those to draw from.
pub(super) fn read_partners(given: &Bound<'_, PyAny>, players: u8) -> PyResult<Partners> {
    let expected = "a dict from seats to a bot's name, a trained policy, or a sequence of these";
    let mapping = given.cast::<PyMapping>().map_err(|_| wrong_type("partners", given, expected))?;
    let mut partners = Partners::default();
    for item in mapping.items()? {
        let (seat, holders): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        let number: Integer =
            seat.extract().map_err(|_| wrong_type("partners: seat", &seat, "an integer"))?;
        let seat = read_seat("partners: seat", &number, players)?;
        let names = read_name(&holders).map_or_else(|| read_names(&holders), |one| Some(vec![one]));
        let names = names.ok_or_else(|| {
            let expected = "a bot's name, a trained policy, or a sequence of these";
            wrong_type(&format!("partners[{seat}]"), &holders, expected)
        })?;
        partners = partners.with(seat, &names)?;
    }
    Ok(partners)
}

/// The text of a bot, or of a trained policy, which has it as an attribute.
fn read_name(holder: &Bound<'_, PyAny>) -> Option<String> {
    let text = holder.extract().or_else(|_| holder.getattr("bot")?.extract::<String>());
    text.ok()
}

fn read_names(holders: &Bound<'_, PyAny>) -> Option<Vec<String>> {
    let holders: Vec<Bound<'_, PyAny>> = holders.extract().ok()?;
    holders.iter().map(read_name).collect()
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
