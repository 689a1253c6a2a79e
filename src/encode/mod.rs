//! Observations: each encoder turns a [`View`] into bits with named sections.
//!
//! To add an encoder, write one file with an [`Encoder`] and add its line to [`ENCODERS`]. An
//! encoder that extends another one calls that one's `layout` and `encode` and appends its own
//! sections. An encoder may also be defined outside the crate.

mod bits;
mod canonical;
mod features;
mod layout;

pub use bits::BitWriter;
pub use canonical::{CANONICAL, CANONICAL_MINIMAL, CANONICAL_SEER, CanonicalKnowledge};
pub use features::{CARD_FEATURES, write_card_features, write_public_marginals};
pub use layout::{Layout, Section};

use crate::rules::{Sight, UnknownName, Variant, View};

/// Turns a view into a fixed number of bits.
pub trait Encoder: Send + Sync {
    /// The name in the registry.
    fn name(&self) -> &'static str;

    /// How much its views show.
    fn sight(&self) -> Sight {
        Sight::Seat
    }

    /// The type of a canonical encoder, whose observations a batch writes for eight games at once.
    /// `None` for every other encoder, also for one that extends a canonical one: a batch calls it
    /// with a view of each game.
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

/// The encoder of this name.
///
/// # Errors
/// [`UnknownName`] when no encoder has it.
pub fn encoder(name: &str) -> Result<&'static dyn Encoder, UnknownName> {
    let encoder = ENCODERS.iter().find(|encoder| encoder.name() == name).copied();
    let names = || ENCODERS.iter().map(|encoder| encoder.name());
    encoder.ok_or_else(|| UnknownName::new("encoder", name, names()))
}

/// Encodes a view, shown with the encoder's sight, into words: the first bit lowest, unused bits 0.
///
/// # Panics
/// When there are fewer words than the layout needs.
pub fn encode_into(encoder: &dyn Encoder, view: View<'_>, words: &mut [u64]) {
    let view = view.with_sight(encoder.sight());
    let mut bits = BitWriter::new(words);
    encoder.encode(&view, &mut bits);
    bits.finish();
}
