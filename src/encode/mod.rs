//! Observations: an [`Encoder`] turns what a seat sees into bits with named sections.
//!
//! ```
//! use starmine::encode::Encoder;
//! use starmine::rules::{EpisodeSeed, State, Variant};
//!
//! let variant = Variant::default();
//! let state = State::new(variant.clone(), EpisodeSeed::default());
//! let layout = Encoder::Canonical.layout(&variant);
//! let mut words = vec![0; layout.words()];
//! Encoder::Canonical.encode_view(&state.view(state.current_player()), &mut words);
//! assert_eq!(layout.len(), 658);
//! # Ok::<(), starmine::rules::VariantError>(())
//! ```

// To add an encoder, add its case here and in the kernel's `observe.rs`, which writes the rows of a
// batch.

mod bits;
mod canonical;
mod features;
mod layout;

pub use features::{CARD_FEATURES, write_card_features, write_public_marginals};
pub use layout::{Layout, Section};

use bits::BitWriter;
use canonical::{encode_seer_view, encode_view, layout};

use crate::rules::{SeerView, Variant, View, named};

named!("encoder",
    /// How an observation is written: HLE's three observation types.
    Encoder {
        /// HLE's `card_knowledge`: the observation includes what the hints say about every card.
        Canonical = "canonical",
        /// HLE's `minimal`: without card knowledge.
        CanonicalMinimal = "canonical-minimal",
        /// HLE's `seer`: card knowledge as if every card had been hinted by colour and rank when it
        /// was dealt. The observer knows its own hand.
        CanonicalSeer = "canonical-seer",
    }
);

impl Encoder {
    /// Whether observations show the observer's own hand.
    #[must_use]
    pub const fn shows_own_hand(self) -> bool {
        matches!(self, Encoder::CanonicalSeer)
    }

    /// Whether observations show what the hints, or those of the seer, say about every card.
    #[must_use]
    #[inline]
    pub(crate) const fn shows_knowledge(self) -> bool {
        !matches!(self, Encoder::CanonicalMinimal)
    }

    /// The named sections of an observation, which fix its length.
    #[must_use]
    pub fn layout(self, variant: &Variant) -> Layout {
        layout(variant, self.shows_knowledge())
    }

    /// Writes an observation into words: the first bit lowest, unused bits 0.
    ///
    /// # Panics
    /// If there are fewer words than the layout needs.
    pub fn encode_into(self, view: &SeerView<'_>, words: &mut [u64]) {
        let mut bits = BitWriter::new(words);
        if self.shows_own_hand() {
            encode_seer_view(view, &mut bits);
        } else {
            encode_view(view.seat_view(), self.shows_knowledge(), &mut bits);
        }
        bits.finish();
    }

    /// As [`Encoder::encode_into`], of what a seat sees.
    ///
    /// # Panics
    /// Also for an encoder that shows the observer's own hand.
    pub fn encode_view(self, view: &View<'_>, words: &mut [u64]) {
        assert!(!self.shows_own_hand(), "the view does not show the observer's own hand");
        let mut bits = BitWriter::new(words);
        encode_view(view, self.shows_knowledge(), &mut bits);
        bits.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{EpisodeSeed, GameRng, Move, Seat, State, random_variant};

    #[test]
    fn observations_have_as_many_bits_as_their_layouts() {
        let mut rng = GameRng::for_samples(5);
        for seed in 0..100 {
            let variant = random_variant(|bound| rng.below(bound));
            let lengths = Encoder::ALL.iter().map(|encoder| encoder.layout(&variant).len());
            let [full, minimal, seer] = Vec::from_iter(lengths).try_into().unwrap();
            let mut words = vec![0; seer.div_ceil(64) + 1];
            let mut state = State::new(variant, EpisodeSeed::new(seed));
            loop {
                for (has_knowledge, length) in [(true, full), (false, minimal)] {
                    let mut bits = BitWriter::new(&mut words);
                    encode_view(&state.view(Seat::FIRST), has_knowledge, &mut bits);
                    assert_eq!(bits.position(), length);
                }
                let mut bits = BitWriter::new(&mut words);
                encode_seer_view(&state.seer_view(Seat::FIRST), &mut bits);
                assert_eq!(bits.position(), seer);
                let moves: Vec<Move> = state.legal_moves().collect();
                let Some(&played) = rng.pick(&moves) else { break };
                state.play(played).unwrap();
            }
        }
    }
}
