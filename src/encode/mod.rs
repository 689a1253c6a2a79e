//! What a seat sees, as features: each encoder turns a [`View`] into bits with named sections.
//!
//! To add an encoder, write one file with an [`Encoder`] and add its line to [`ENCODERS`]; an
//! encoder from outside the crate works just as well.

mod bits;
mod canonical;
mod layout;

use thiserror::Error;

pub use bits::BitWriter;
pub use canonical::{CANONICAL, CANONICAL_MINIMAL, CANONICAL_SEER, CanonicalKnowledge};
pub use layout::{Layout, LayoutBuilder, Section};

use crate::rules::{Sight, Variant, View};

/// Turns a view into a fixed number of bits.
pub trait Encoder: Send + Sync {
    /// The name in the registry.
    fn name(&self) -> &'static str;

    /// How much the views that it is given show.
    fn sight(&self) -> Sight {
        Sight::Seat
    }

    /// Says that this is a canonical encoder, whose observations a batch writes for eight games at
    /// once by code of its own. All others, and any of another layout, are given a view of each
    /// game.
    fn canonical_knowledge(&self) -> Option<CanonicalKnowledge> {
        None
    }

    /// The named sections of an observation, which fix its length.
    fn layout(&self, variant: &Variant) -> Layout;

    /// Writes the observation: exactly as many bits as the layout has.
    fn encode(&self, view: &View<'_>, bits: &mut BitWriter<'_>);
}

/// The registry: all encoders by name.
pub const ENCODERS: &[&dyn Encoder] = &[&CANONICAL, &CANONICAL_MINIMAL, &CANONICAL_SEER];

/// An encoder was asked for by a name that none has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("encoder={name:?} is not known: expected one of {known}")]
pub struct UnknownEncoder {
    /// The name that was asked for.
    pub name: String,
    /// The names that there are.
    pub known: String,
}

/// The encoder of this name.
///
/// # Errors
/// [`UnknownEncoder`], with the known names.
pub fn encoder(name: &str) -> Result<&'static dyn Encoder, UnknownEncoder> {
    ENCODERS.iter().find(|encoder| encoder.name() == name).copied().ok_or_else(|| {
        let known: Vec<&str> = ENCODERS.iter().map(|encoder| encoder.name()).collect();
        UnknownEncoder { name: name.to_owned(), known: known.join(", ") }
    })
}

/// Encodes a view into words, the first bit lowest, the rest zero. The view gets the encoder's sight.
///
/// # Panics
/// When there are fewer words than the layout needs.
pub fn encode_into(encoder: &dyn Encoder, view: View<'_>, words: &mut [u64]) {
    let view = view.with_sight(encoder.sight());
    let mut bits = BitWriter::new(words);
    encoder.encode(&view, &mut bits);
    bits.finish();
}
