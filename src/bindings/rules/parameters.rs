//! The parameters of a variant, from Python and back.

use std::str::FromStr;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::arguments::numbers::Integer;
use crate::bindings::arrays::copies::while_read;
use crate::bindings::arrays::vectors::items;
use crate::bindings::errors::VariantError;
use crate::rules::{self, Parameters, SWITCHES};

/// More rows or numbers than any variant has; what follows them is not read.
const MAX_COPIES: usize = 64;

/// Reads the number of copies of each card: a row for each colour.
pub fn copies_table(copies: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<i64>>> {
    let row = |row: &Bound<'_, PyAny>| {
        items(row, MAX_COPIES)?.iter().map(|count| count.extract()).collect()
    };
    let rows: Vec<Vec<Integer>> = while_read("copies", copies, || {
        let rows = items(copies, MAX_COPIES).and_then(|rows| rows.iter().map(row).collect());
        rows.map_err(|_| {
            let value = copies.repr().map_or_else(|_| "?".into(), |text| text.to_string());
            let allowed = "a list with a row for each colour of 1 to 3 copies of each rank";
            rules::VariantError::new("copies", value, allowed).into()
        })
    })?;
    if let Some(beyond) = rows.iter().flatten().find(|count| count.is_beyond()) {
        return Err(rules::VariantError::new("copies", beyond, "1 to 3 of each card").into());
    }
    Ok(rows.into_iter().map(|row| row.into_iter().map(|count| count.value).collect()).collect())
}

/// Reads a parameter that has a name for each value.
pub fn named<T: FromStr<Err = rules::UnknownNameError>>(name: &str) -> PyResult<T> {
    name.parse().map_err(|error: rules::UnknownNameError| VariantError::new_err(error.to_string()))
}

/// The parameters by name, as the constructor of `Variant` takes them.
pub fn parameters_dict<'py>(
    py: Python<'py>,
    parameters: &Parameters,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("players", parameters.players)?;
    dict.set_item("colors", parameters.colors)?;
    dict.set_item("ranks", parameters.ranks)?;
    dict.set_item("hand_size", parameters.hand_size)?;
    dict.set_item("max_information_tokens", parameters.max_information_tokens)?;
    dict.set_item("max_life_tokens", parameters.max_life_tokens)?;
    dict.set_item("copies", &parameters.copies)?;
    for switch in SWITCHES {
        dict.set_item(switch.name, switch.is_on(parameters))?;
    }
    dict.set_item("lost_game_score", parameters.lost_game_score.name())?;
    dict.set_item("edition", parameters.edition.name())?;
    Ok(dict)
}
