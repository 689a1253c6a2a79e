//! The settings of a batch and the seeds of a reset, as Python gives them.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping, PyTuple};

use super::external_partner::_ExternalPartner;
use crate::batch::{BatchError, ExtraOutput, GivenDecks, Partners, Seeds};
use crate::bindings::arguments::numbers::{
    Integer, refuse_bool, seat as read_seat, seed as read_seed, wrong_type,
};
use crate::bindings::arguments::text::Text;
use crate::bindings::arrays::copies::{copy, mask, while_read};
use crate::bindings::arrays::vectors::{items, with_capacity};
use crate::bindings::bots::player::read_player_if;
use crate::bindings::errors::StarmineError;
use crate::buffers::BufferError;
use crate::players::PlayerSpec;
use crate::rules::Seat;

/// The seeds, the mask and the decks of a reset.
pub struct Reset {
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

impl GivenSeeds {
    fn read(seed: &Bound<'_, PyAny>, num_envs: usize) -> PyResult<GivenSeeds> {
        if !seed.hasattr("__len__")? || is_scalar(seed) {
            return Ok(GivenSeeds::Batch(read_seed(seed)?));
        }
        let (name, found) = ("seed", seed.len()?);
        if found != num_envs {
            return Err(BufferError::Length { name, found, expected: num_envs }.into());
        }
        let mut seeds = with_capacity(name, num_envs + 1)?;
        for seed in seed.try_iter()?.take(num_envs + 1) {
            seeds.push(read_seed(&seed?)?);
        }
        Ok(GivenSeeds::Each(seeds))
    }
}

impl Reset {
    pub fn read(
        seed: Option<&Bound<'_, PyAny>>,
        reset_mask: Option<&Bound<'_, PyAny>>,
        decks: Option<&Bound<'_, PyAny>>,
        start_players: Option<&Bound<'_, PyAny>>,
        [num_envs, deck_size]: [usize; 2],
    ) -> PyResult<Reset> {
        let seeds = match seed {
            None => GivenSeeds::Continue,
            Some(seed) => while_read("seed", seed, || GivenSeeds::read(seed, num_envs))?,
        };
        let mask = reset_mask.map(|given| mask("reset_mask", given, num_envs)).transpose()?;
        let decks = decks.map(|given| copy("decks", given, &[num_envs, deck_size])).transpose()?;
        let seats = start_players.map(|given| copy("start_players", given, &[num_envs]));
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
pub fn mode_name(given: &Bound<'_, PyAny>) -> PyResult<Text> {
    let value = if given.hasattr("value")? { given.getattr("value")? } else { given.clone() };
    value.extract().map_err(|_| wrong_type("autoreset_mode", given, "a mode's name"))
}

/// More partners of a seat than are allowed; what follows them is not read.
const MAX_PARTNERS: usize = 1000;

const SEAT_EXPECTED: &str = "a bot's name, a TrainedPolicy, which the core plays, or a sequence of these, each alone or as (partner, weight)";

/// Reads a mapping from seats to partners, or to sequences of partners to draw from.
pub fn read_partners(given: &Bound<'_, PyAny>, players: u8) -> PyResult<Partners> {
    let expected = &format!("a dict from seats to {SEAT_EXPECTED}");
    let mapping = given.cast::<PyMapping>().map_err(|_| wrong_type("partners", given, expected))?;
    let mut partners = Partners::default();
    for item in mapping.items()? {
        let (seat, holders): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        let number: Integer =
            seat.extract().map_err(|_| wrong_type("partners: seat", &seat, "an integer"))?;
        let seat = read_seat("partners: seat", &number, players)?;
        let (holders, weights) = match read_partner(&holders)? {
            Some(partner) => (vec![partner], vec![1.0]),
            None => read_mixture(&holders)?
                .ok_or_else(|| wrong_type(&format!("partners[{seat}]"), &holders, SEAT_EXPECTED))?,
        };
        partners = partners.with_weights(seat, holders, weights).map_err(BatchError::from)?;
    }
    Ok(partners)
}

/// A partner: the text of a bot, an object that carries a loaded player, or an external partner. `None` for
/// anything else.
fn read_partner(holder: &Bound<'_, PyAny>) -> PyResult<Option<PlayerSpec>> {
    if holder.is_instance_of::<_ExternalPartner>() {
        return Ok(Some(PlayerSpec::external()));
    }
    if let Ok(text) = holder.extract::<Text>() {
        let read = || text.parse::<PlayerSpec>().map_err(BatchError::from);
        return Ok(Some(holder.py().detach(read)?));
    }
    read_player_if(holder)
}

/// The partners of a sequence with their weights, which are 1 where none is given.
fn read_mixture(holders: &Bound<'_, PyAny>) -> PyResult<Option<(Vec<PlayerSpec>, Vec<f64>)>> {
    let Ok(holders) = items(holders, MAX_PARTNERS) else { return Ok(None) };
    let (mut partners, mut weights) = (Vec::new(), Vec::new());
    for holder in &holders {
        let pair: Option<(Bound<'_, PyAny>, f64)> =
            if holder.is_instance_of::<PyTuple>() { holder.extract().ok() } else { None };
        if pair.is_some() {
            refuse_bool("weight", &holder.get_item(1)?)?;
        }
        let (holder, weight) = pair.unwrap_or_else(|| (holder.clone(), 1.0));
        let Some(partner) = read_partner(&holder)? else { return Ok(None) };
        partners.push(partner);
        weights.push(weight);
    }
    Ok(Some((partners, weights)))
}

/// Reads names of extra outputs, which may be given in any order.
pub fn read_extra_outputs(given: &Bound<'_, PyAny>) -> PyResult<Vec<ExtraOutput>> {
    let expected = || {
        let names: Vec<_> = ExtraOutput::ALL.iter().map(|output| output.name()).collect();
        wrong_type("extra_outputs", given, &format!("a sequence of {}", names.join(", ")))
    };
    let mut wanted = Vec::new();
    for name in items(given, MAX_EXTRA_OUTPUTS).map_err(|_| expected())? {
        let name: Text = name.extract().map_err(|_| expected())?;
        wanted.push(name.parse::<ExtraOutput>()?);
    }
    Ok(ExtraOutput::ALL.iter().copied().filter(|output| wanted.contains(output)).collect())
}

/// The most names of extra outputs that are read.
const MAX_EXTRA_OUTPUTS: usize = 100;

/// The partners by seat: one text, or a list of texts, or of pairs with their weights.
pub fn partners_dict<'py>(py: Python<'py>, partners: &Partners) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let weights: BTreeMap<Seat, &[f64]> = partners.weights().collect();
    for (seat, partners) in partners.seats() {
        let named = partners.iter().map(|partner| {
            Ok(if partner.is_external() {
                Bound::new(py, _ExternalPartner)?.into_any()
            } else {
                partner.to_string().into_pyobject(py)?.into_any()
            })
        });
        let named: Vec<Bound<'_, PyAny>> = named.collect::<PyResult<_>>()?;
        match (named.as_slice(), weights.get(&seat)) {
            ([partner], _) => dict.set_item(u8::from(seat), partner)?,
            (partners, None) => dict.set_item(u8::from(seat), PyList::new(py, partners)?)?,
            (partners, Some(&weights)) => {
                dict.set_item(u8::from(seat), PyList::new(py, partners.iter().zip(weights))?)?;
            }
        }
    }
    Ok(dict)
}
