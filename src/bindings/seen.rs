//! What the seats to act see in several games.

use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use super::features::{action_mask, encode_view};
use super::room::room;
use crate::encode::{self, Encoder};
use crate::rules::{Variant, View};

/// Observations uint8 (K, D) and action masks bool (K, A).
pub(super) type Seen<'py> = (Bound<'py, PyArray2<u8>>, Bound<'py, PyArray2<bool>>);

/// Observations and action masks of views, row by row.
pub(super) struct SeenRows<'a> {
    encoder: &'static dyn Encoder,
    variant: &'a Variant,
    games: usize,
    observations: Vec<u8>,
    masks: Vec<bool>,
}

impl<'a> SeenRows<'a> {
    /// Room for the rows of so many games.
    ///
    /// # Errors
    /// `UnknownNameError` if there is no such encoder, `MemoryError` if there is no memory.
    pub fn new(variant: &'a Variant, encoder: &str, games: usize) -> PyResult<SeenRows<'a>> {
        let encoder = encode::encoder(encoder)?;
        let observations = room("observations", games * encoder.layout(variant).len())?;
        let masks = room("masks", games * variant.num_actions())?;
        Ok(SeenRows { encoder, variant, games, observations, masks })
    }

    /// Appends the row of a view.
    pub fn push(&mut self, view: View<'_>) {
        self.observations.extend(encode_view(self.encoder, view));
        self.masks.extend(action_mask(self.variant, view.legal_actions()));
    }

    /// The arrays, once each game has its row.
    pub fn into_arrays(self, py: Python<'_>) -> PyResult<Seen<'_>> {
        let rows = [self.games, self.encoder.layout(self.variant).len()];
        let masks = [self.games, self.variant.num_actions()];
        Ok((
            self.observations.into_pyarray(py).reshape(rows)?,
            self.masks.into_pyarray(py).reshape(masks)?,
        ))
    }
}
