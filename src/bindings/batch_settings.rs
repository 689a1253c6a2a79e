//! The settings of a batch and the seeds of a reset, as Python gives them.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping};

use super::errors::StarmineError;
use super::integer_arrays::{bytes, mask};
use super::memory::check_not_masked;
use super::numbers::{Integer, seat as read_seat, seed as read_seed, wrong_type};
use super::room::{items, room};
use super::text::Text;
use crate::batch::{BufferError, ExtraOutput, GivenDecks, Partners, Seeds};
use crate::rules::Named;

/// The seeds, the mask and the decks of a reset.
pub(super) struct Reset {
    seeds: GivenSeeds,
    mask: Option<Vec<bool>>,
    decks: Option<Vec<u8>>,
    start_players: Option<Vec<u8>>,
}

enum GivenSeeds {
    Continue,
    Batch(u64),
    Each(Vec<u64>),
}

impl Reset {
    pub fn read(
        seed: Option<&Bound<'_, PyAny>>,
        reset_mask: Option<&Bound<'_, PyAny>>,
        decks: Option<&Bound<'_, PyAny>>,
        start_players: Option<&Bound<'_, PyAny>>,
        [num_envs, deck_size]: [usize; 2],
    ) -> PyResult<Reset> {
        if let Some(seed) = seed {
            check_not_masked("seed", seed)?;
        }
        let seeds = match seed {
            None => GivenSeeds::Continue,
            Some(seed) if seed.hasattr("__len__")? && !is_scalar(seed) => {
                let (name, found) = ("seed", seed.len()?);
                if found != num_envs {
                    let (found, expected) = (found.to_string(), num_envs.to_string());
                    return Err(BufferError { name, found, expected }.into());
                }
                let mut seeds = room("seed", num_envs + 1)?;
                for seed in seed.try_iter()?.take(num_envs + 1) {
                    seeds.push(read_seed(&seed?)?);
                }
                GivenSeeds::Each(seeds)
            }
            Some(seed) => GivenSeeds::Batch(read_seed(seed)?),
        };
        let mask = reset_mask.map(|given| mask("reset_mask", given, num_envs)).transpose()?;
        let decks = decks.map(|given| bytes("decks", given, &[num_envs, deck_size])).transpose()?;
        let seats = start_players.map(|given| bytes("start_players", given, &[num_envs]));
        if decks.is_none() && seats.is_some() {
            return Err(StarmineError::new_err(
                "start_players need decks: without decks the variant and the seed decide",
            ));
        }
        Ok(Reset { seeds, mask, decks, start_players: seats.transpose()? })
    }

    pub fn seeds(&self) -> Seeds<'_> {
        match &self.seeds {
            GivenSeeds::Continue => Seeds::Continue,
            GivenSeeds::Batch(seed) => Seeds::Batch(*seed),
            GivenSeeds::Each(seeds) => Seeds::Each(seeds),
        }
    }

    pub fn decks(&self) -> Option<GivenDecks<'_>> {
        let start_players = self.start_players.as_deref();
        self.decks.as_deref().map(|cards| GivenDecks { cards, start_players })
    }

    pub fn mask(&self) -> Option<&[bool]> {
        self.mask.as_deref()
    }
}

/// Whether this is an array without axes, which has a length in name only.
fn is_scalar(given: &Bound<'_, PyAny>) -> bool {
    let axes = given.getattr("ndim").and_then(|axes| axes.extract::<usize>());
    axes.is_ok_and(|axes| axes == 0)
}

/// The name of an autoreset mode: text, or an enum member whose value is the text.
pub(super) fn mode_name(given: &Bound<'_, PyAny>) -> PyResult<Text> {
    let value = if given.hasattr("value")? { given.getattr("value")? } else { given.clone() };
    value.extract().map_err(|_| wrong_type("autoreset_mode", given, "a mode's name"))
}

/// More partners of a seat than are allowed; what follows them is not read.
const MAX_PARTNERS: usize = 1000;

/// Reads a mapping from seats to partners, or to sequences of partners to draw from.
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

/// The name of a bot, or of a trained policy, which has it as an attribute.
fn read_name(holder: &Bound<'_, PyAny>) -> Option<String> {
    let text = holder.extract().or_else(|_| holder.getattr("bot")?.extract::<Text>());
    text.ok().map(String::from)
}

fn read_names(holders: &Bound<'_, PyAny>) -> Option<Vec<String>> {
    let holders = items(holders, MAX_PARTNERS).ok()?;
    holders.iter().map(read_name).collect()
}

/// Reads names of extra outputs, which may be given in any order.
pub(super) fn read_extra_outputs(given: &Bound<'_, PyAny>) -> PyResult<Vec<ExtraOutput>> {
    let expected = || {
        let names: Vec<_> = ExtraOutput::ALL.iter().map(|output| output.name()).collect();
        wrong_type("extra_outputs", given, &format!("a sequence of {}", names.join(", ")))
    };
    let mut wanted = Vec::new();
    for name in items(given, MAX_EXTRA_OUTPUTS).map_err(|_| expected())? {
        let name: Text = name.extract().map_err(|_| expected())?;
        wanted.push(ExtraOutput::from_name(&name)?);
    }
    Ok(ExtraOutput::ALL.iter().copied().filter(|output| wanted.contains(output)).collect())
}

/// The most names of extra outputs that are read.
const MAX_EXTRA_OUTPUTS: usize = 100;

/// The partners by seat: a name, or a list of names.
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
