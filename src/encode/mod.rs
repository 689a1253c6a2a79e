//! Observations: each encoder turns a [`View`] into bits with named sections.
//!
//! An [`Encoder`] gets what a seat sees, never that seat's own hand. HLE's `seer`, which shows it,
//! is a [`SeerEncoder`].
//!
//! An encoder that extends another one calls that one's `layout` and `encode` and appends its own
//! sections. An encoder may also be defined outside the crate.
//!
//! ```
//! use starmine::encode::{CANONICAL, Encoder};
//! use starmine::rules::{EpisodeSeed, State, Variant};
//!
//! let variant = Variant::default();
//! let state = State::new(variant.clone(), EpisodeSeed::default());
//! let layout = CANONICAL.layout(&variant);
//! let mut words = vec![0; layout.words()];
//! CANONICAL.encode_into(&state.view(state.current_player()), &mut words);
//! assert_eq!(layout.len(), 658);
//! # Ok::<(), starmine::rules::VariantError>(())
//! ```

// To add an encoder, write one file with an `Encoder` and add its line to `encoders`.

mod bits;
mod canonical;
mod features;
mod layout;

pub use bits::BitWriter;
#[cfg(feature = "bots")]
pub(crate) use canonical::CanonicalKnowledge;
pub use canonical::{CANONICAL, CANONICAL_MINIMAL, CANONICAL_SEER, Canonical, CanonicalSeer};
pub use features::{CARD_FEATURES, write_card_features, write_public_marginals};
pub use layout::{Layout, Section};

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::rules::{SeerView, UnknownNameError, Variant, View};

/// Turns what a seat sees into a fixed number of bits.
pub trait Encoder: Any + Send + Sync {
    /// The name in the registry.
    fn name(&self) -> &'static str;

    /// The named sections of an observation, which fix its length.
    fn layout(&self, variant: &Variant) -> Layout;

    /// Writes the observation: exactly as many bits as the layout has.
    fn encode(&self, view: &View<'_>, bits: &mut BitWriter<'_>);

    /// Encodes a view into words: the first bit lowest, unused bits 0.
    ///
    /// # Panics
    /// If there are fewer words than the layout needs, or if [`Encoder::encode`] writes more or
    /// fewer bits than the layout has.
    fn encode_into(&self, view: &View<'_>, words: &mut [u64]) {
        let mut bits = BitWriter::new(words);
        self.encode(view, &mut bits);
        bits.finish_at(self.layout(view.variant()).len());
    }
}

/// Turns a view that also shows the observer's own hand into a fixed number of bits. The methods
/// are those of [`Encoder`].
pub trait SeerEncoder: Any + Send + Sync {
    /// As [`Encoder::name`].
    fn name(&self) -> &'static str;

    /// As [`Encoder::layout`].
    fn layout(&self, variant: &Variant) -> Layout;

    /// As [`Encoder::encode`].
    fn encode(&self, view: &SeerView<'_>, bits: &mut BitWriter<'_>);

    /// As [`Encoder::encode_into`].
    fn encode_into(&self, view: &SeerView<'_>, words: &mut [u64]) {
        let mut bits = BitWriter::new(words);
        self.encode(view, &mut bits);
        bits.finish_at(self.layout(view.seat_view().variant()).len());
    }
}

/// An encoder of either kind. The kind says whether its observations show the observer's own hand.
#[derive(Clone)]
pub enum AnyEncoder {
    /// An encoder of what a seat sees.
    Seat(Arc<dyn Encoder>),
    /// An encoder that also sees the observer's own hand.
    Seer(Arc<dyn SeerEncoder>),
}

impl fmt::Debug for AnyEncoder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("AnyEncoder").field(&self.name()).finish()
    }
}

impl AnyEncoder {
    /// An encoder of what a seat sees.
    pub fn of_seat(encoder: impl Encoder) -> AnyEncoder {
        AnyEncoder::Seat(Arc::new(encoder))
    }

    /// An encoder that also sees the observer's own hand.
    pub fn of_seer(encoder: impl SeerEncoder) -> AnyEncoder {
        AnyEncoder::Seer(Arc::new(encoder))
    }

    /// The name in the registry.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            AnyEncoder::Seat(encoder) => encoder.name(),
            AnyEncoder::Seer(encoder) => encoder.name(),
        }
    }

    /// Whether [`encoder`] gives this encoder for its name.
    #[cfg(feature = "bots")]
    pub(crate) fn is_registered(&self) -> bool {
        self.canonical_knowledge().is_some()
    }

    /// The card knowledge of a canonical encoder, whose observations a batch writes for eight games
    /// at once. `None` for every other encoder, also for one that extends a canonical one: a
    /// batch calls it with a view of each game.
    #[cfg(feature = "bots")]
    pub(crate) fn canonical_knowledge(&self) -> Option<CanonicalKnowledge> {
        match self {
            AnyEncoder::Seat(encoder) => (&**encoder as &dyn Any)
                .downcast_ref::<Canonical>()
                .map(|canonical| canonical.knowledge),
            AnyEncoder::Seer(encoder) => {
                (&**encoder as &dyn Any).is::<CanonicalSeer>().then_some(CanonicalKnowledge::Full)
            }
        }
    }

    /// The named sections of an observation, which fix its length.
    #[must_use]
    pub fn layout(&self, variant: &Variant) -> Layout {
        match self {
            AnyEncoder::Seat(encoder) => encoder.layout(variant),
            AnyEncoder::Seer(encoder) => encoder.layout(variant),
        }
    }

    /// The encoder, if it is one of what a seat sees.
    #[must_use]
    pub fn seat(&self) -> Option<&Arc<dyn Encoder>> {
        match self {
            AnyEncoder::Seat(encoder) => Some(encoder),
            AnyEncoder::Seer(_) => None,
        }
    }

    /// Encodes a position into words: the first bit lowest, unused bits 0. An encoder of what a
    /// seat sees gets the view without the observer's own hand.
    ///
    /// # Panics
    /// As [`Encoder::encode_into`].
    pub fn encode_into(&self, view: &SeerView<'_>, words: &mut [u64]) {
        match self {
            AnyEncoder::Seat(encoder) => encoder.encode_into(view.seat_view(), words),
            AnyEncoder::Seer(encoder) => encoder.encode_into(view, words),
        }
    }

    /// As [`AnyEncoder::encode_into`], for a layout of this length: a batch knows it.
    #[cfg(feature = "bots")]
    pub(crate) fn encode_row(&self, view: &SeerView<'_>, words: &mut [u64], length: usize) {
        let mut bits = BitWriter::new(words);
        match self {
            AnyEncoder::Seat(encoder) => encoder.encode(view.seat_view(), &mut bits),
            AnyEncoder::Seer(encoder) => encoder.encode(view, &mut bits),
        }
        bits.finish_at(length);
    }
}

/// The registry: all encoders of this crate.
#[must_use]
pub fn encoders() -> Vec<AnyEncoder> {
    vec![
        AnyEncoder::of_seat(CANONICAL),
        AnyEncoder::of_seat(CANONICAL_MINIMAL),
        AnyEncoder::of_seer(CANONICAL_SEER),
    ]
}

/// The encoder of this name.
///
/// # Errors
/// [`UnknownNameError`] if no encoder has it.
pub fn encoder(name: &str) -> Result<AnyEncoder, UnknownNameError> {
    let names = || encoders().into_iter().map(|encoder| encoder.name());
    let found = encoders().into_iter().find(|encoder| encoder.name() == name);
    found.ok_or_else(|| UnknownNameError::new("encoder", name, names()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{EpisodeSeed, Seat, State};

    /// Writes this number of bits; its layout has ten.
    struct Bits(usize);

    impl Encoder for Bits {
        fn name(&self) -> &'static str {
            "bits"
        }

        fn layout(&self, _: &Variant) -> Layout {
            Layout::default().with_section("bits", &[10])
        }

        fn encode(&self, _: &View<'_>, bits: &mut BitWriter<'_>) {
            bits.skip(self.0);
        }
    }

    #[test]
    fn an_encoder_that_does_not_fill_its_layout_is_noticed() {
        let state = State::new(Variant::default(), EpisodeSeed::default());
        for (bits, fits) in [(9, false), (10, true), (11, false)] {
            let encode = || Bits(bits).encode_into(&state.view(Seat::FIRST), &mut [0; 2]);
            assert_eq!(std::panic::catch_unwind(encode).is_ok(), fits);
            let seer = state.seer_view(Seat::FIRST);
            let encode = || AnyEncoder::of_seat(Bits(bits)).encode_into(&seer, &mut [0; 2]);
            assert_eq!(std::panic::catch_unwind(encode).is_ok(), fits);
        }
    }
}
