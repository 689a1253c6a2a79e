//! What seats see in several games.

use half::f16;
use numpy::{Element as NumpyElement, IntoPyArray, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::batch::{Dtype, ExtraOutput};
use crate::bindings::arguments::listed::Listed;
use crate::bindings::arguments::text::Text;
use crate::bindings::arrays::copies::integers;
use crate::bindings::arrays::vectors::with_capacity;
use crate::bindings::errors::StarmineError;
use crate::buffers::{Element, InstructionSet, WriteOnly, packed_length, unpack_bits};
use crate::encode::{CARD_FEATURES, Encoder, write_card_features, write_public_marginals};
use crate::rules::{Position, Seat, SeerView, Variant, View};

/// What seats see of their games: the encoder, the dtype and the extra outputs, as a tuple in Python.
#[derive(FromPyObject)]
pub struct ViewRequest(Text, Text, Listed<Text>);

/// The most rows that are written between two checks for signals: about ten milliseconds.
const ROWS_BETWEEN_SIGNALS: usize = 1 << 12;

/// Pairs of a game and a seat, from two arrays of the same length.
///
/// # Errors
/// `StarmineError` if one is not a game, or not a seat.
pub fn pairs(
    games: &Bound<'_, PyAny>,
    seats: &Bound<'_, PyAny>,
    most_games: usize,
    players: u8,
) -> PyResult<Vec<(usize, Seat)>> {
    let (games, seats) = (integers("games", games)?, integers("seats", seats)?);
    if games.len() != seats.len() {
        let (found, expected) = (seats.len(), games.len());
        return Err(StarmineError::new_err(format!(
            "seats has {found} elements: expected {expected}"
        )));
    }
    let mut rows = with_capacity("rows", games.len())?;
    for (&game, &seat) in games.iter().zip(&seats) {
        if !(0..most_games as i64).contains(&game) || !(0..i64::from(players)).contains(&seat) {
            let last = most_games - 1;
            return Err(StarmineError::new_err(format!(
                "game {game}, seat {seat}: expected a game from 0 to {last} and a seat from 0 to {}",
                players - 1
            )));
        }
        rows.push((game as usize, Seat::new_unchecked(seat as usize)));
    }
    Ok(rows)
}

/// Writes a row for each position and seat, in order.
///
/// Returns:
///     "obs" (K, D) in the dtype that is asked for, "action_mask" bool (K, A), all false in the rows of a seat that is
///     not to act, and the extra outputs by name.
///
/// # Errors
/// `UnknownNameError` if there is no such encoder, dtype or output, `MemoryError` if there is no memory.
pub fn rows<'py>(
    py: Python<'py>,
    variant: &Variant,
    wanted: &ViewRequest,
    number: usize,
    mut position: impl FnMut(usize) -> (Position, Seat),
) -> PyResult<Bound<'py, PyDict>> {
    let mut rows = ViewRows::new(variant, wanted, number)?;
    for row in 0..number {
        if row % ROWS_BETWEEN_SIGNALS == 0 {
            py.check_signals()?;
        }
        let (position, observer) = position(row);
        rows.push(&position, observer);
    }
    rows.into_dict(py)
}

/// Rows of observations, action masks and extra outputs.
struct ViewRows<'a> {
    encoder: Encoder,
    dtype: Dtype,
    variant: &'a Variant,
    number: usize,
    /// The number of features of an observation.
    features: usize,
    words: Vec<u64>,
    packed: Vec<u8>,
    masks: Vec<bool>,
    card_features: Option<Vec<f32>>,
    marginals: Option<Vec<f32>>,
    own_hands: Option<Vec<i8>>,
}

impl<'a> ViewRows<'a> {
    /// Room for this many rows.
    fn new(variant: &'a Variant, wanted: &ViewRequest, number: usize) -> PyResult<ViewRows<'a>> {
        let ViewRequest(encoder, dtype, extra_outputs) = wanted;
        let encoder = encoder.parse::<Encoder>()?;
        let layout = encoder.layout(variant);
        let asked = extra_outputs.iter().map(|name| name.parse::<ExtraOutput>());
        let asked: Vec<ExtraOutput> = asked.collect::<Result<_, _>>()?;
        let slots = usize::from(variant.hand_size());
        let cards = usize::from(variant.players()) * slots;
        let floats = |output: ExtraOutput, length: usize| {
            let rows = || with_capacity(output.name(), number * length);
            asked.contains(&output).then(rows).transpose()
        };
        let has_hands = asked.contains(&ExtraOutput::OwnHand);
        Ok(ViewRows {
            encoder,
            dtype: dtype.parse::<Dtype>()?,
            variant,
            number,
            features: layout.len(),
            words: vec![0; layout.words()],
            packed: with_capacity("observations", number * 8 * layout.words())?,
            masks: with_capacity("masks", number * variant.num_actions())?,
            card_features: floats(ExtraOutput::CardFeatures, cards * CARD_FEATURES)?,
            marginals: floats(ExtraOutput::Marginals, cards * variant.num_card_kinds())?,
            own_hands: has_hands.then(|| with_capacity("own_hand", number * slots)).transpose()?,
        })
    }

    /// Appends the row of a seat.
    fn push(&mut self, position: &Position, observer: Seat) {
        let view = View::new(self.variant, position, observer);
        let seer = SeerView::new(self.variant, position, observer);
        self.encoder.encode_into(&seer, &mut self.words);
        self.packed.extend(self.words.iter().flat_map(|word| word.to_le_bytes()));
        let is_to_act = position.ending.is_none() && position.current_player == observer;
        let legal = view.legal_actions();
        let actions = self.variant.action_ids();
        self.masks.extend(actions.map(|action| is_to_act && legal.contains(action)));
        let slots = usize::from(self.variant.hand_size());
        let cards = usize::from(self.variant.players()) * slots;
        if let Some(rows) = &mut self.card_features {
            write_card_features(&view, appended(rows, cards * CARD_FEATURES, 0.0));
        }
        if let Some(rows) = &mut self.marginals {
            let kinds = self.variant.num_card_kinds();
            write_public_marginals(&view, appended(rows, cards * kinds, 0.0));
        }
        if let Some(rows) = &mut self.own_hands {
            let hand = appended(rows, slots, -1);
            let held = position.hands[observer.index()].cards();
            hand.iter_mut().zip(held).for_each(|(to, &card)| *to = card as i8);
        }
    }

    /// The arrays by name, once all rows are there.
    fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let ViewRows { number, features, variant, .. } = self;
        let arrays = PyDict::new(py);
        let obs = match self.dtype {
            Dtype::Bits => array(py, self.packed, &[number, packed_length(features)])?,
            Dtype::Uint8 => unpacked::<u8>(py, &self.packed, [number, features])?,
            Dtype::Float16 => unpacked::<f16>(py, &self.packed, [number, features])?,
            Dtype::Float32 => unpacked::<f32>(py, &self.packed, [number, features])?,
        };
        arrays.set_item("obs", obs)?;
        arrays.set_item("action_mask", array(py, self.masks, &[number, variant.num_actions()])?)?;
        let (players, slots) = (usize::from(variant.players()), usize::from(variant.hand_size()));
        let floats = [
            (ExtraOutput::CardFeatures, self.card_features, CARD_FEATURES),
            (ExtraOutput::Marginals, self.marginals, variant.num_card_kinds()),
        ];
        for (output, rows, numbers) in floats {
            if let Some(rows) = rows {
                arrays.set_item(
                    output.name(),
                    array(py, rows, &[number, players, slots, numbers])?,
                )?;
            }
        }
        if let Some(rows) = self.own_hands {
            arrays.set_item(ExtraOutput::OwnHand.name(), array(py, rows, &[number, slots])?)?;
        }
        Ok(arrays)
    }
}

/// The last elements of a vector, which are new.
fn appended<T: Copy>(rows: &mut Vec<T>, length: usize, value: T) -> &mut [T] {
    let start = rows.len();
    rows.resize(start + length, value);
    &mut rows[start..]
}

fn array<'py, T: NumpyElement>(
    py: Python<'py>,
    elements: Vec<T>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    Ok(elements.into_pyarray(py).reshape(shape.to_vec())?.into_any())
}

/// An array with an element for each bit of the packed rows.
fn unpacked<'py, T: Element + NumpyElement + Default>(
    py: Python<'py>,
    packed: &[u8],
    shape: [usize; 2],
) -> PyResult<Bound<'py, PyAny>> {
    let mut elements: Vec<T> = with_capacity("observations", shape[0] * shape[1])?;
    elements.resize(shape[0] * shape[1], T::default());
    unpack_bits(InstructionSet::chosen()?, packed, shape[1], WriteOnly::new(&mut elements), 1)?;
    array(py, elements, &shape)
}
