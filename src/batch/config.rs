//! The settings of a batch, and what follows from them for all its games and threads.

use std::sync::Arc;

use super::kernel::plan::Plan;
use super::kernel::processor::Processor;
use super::options::{Dtype, Observers, Options};
use crate::buffers::{Simd, SimdError};
use crate::encode::{CanonicalKnowledge, ENCODERS, Layout};
use crate::rules::Variant;

/// What all games and threads of a batch share: it is not changed after the batch was made.
#[derive(Clone, Debug)]
pub(super) struct BatchConfig {
    pub variant: Arc<Variant>,
    pub layout: Layout,
    pub options: Options,
    /// On the heap, because its tables are aligned to 64 bytes and Python does not align a batch.
    pub plan: Arc<Plan>,
    pub simd: Simd,
    /// Whether observations are written with non-temporal stores, because the caches cannot hold
    /// them.
    pub streams: bool,
    /// Whether the cache lines of later rows are prefetched while a row is written.
    pub prefetches: bool,
    /// Whether steps alternate between ascending and descending order of the games: a step then
    /// begins with the observations that the last one has left in a cache too small for all of
    /// them.
    pub turns_round: bool,
    /// The card knowledge of a canonical encoder, which the kernel writes; `None` for other
    /// encoders.
    pub canonical: Option<CanonicalKnowledge>,
}

impl BatchConfig {
    pub fn new(
        variant: Arc<Variant>,
        num_envs: usize,
        options: Options,
    ) -> Result<BatchConfig, SimdError> {
        let layout = options.encoder.layout(&variant);
        // The kernel writes as many words as a canonical layout has. An encoder from outside the
        // crate may claim to be canonical with another layout: it is given views instead.
        let is_own = |knowledge: &CanonicalKnowledge| {
            ENCODERS.iter().any(|encoder| {
                encoder.canonical_knowledge() == Some(*knowledge)
                    && encoder.layout(&variant) == layout
            })
        };
        let mut config = BatchConfig {
            plan: Arc::new(Plan::new(&variant)),
            simd: options.simd.map_or_else(Simd::chosen, Simd::require)?,
            canonical: options.encoder.canonical_knowledge().filter(is_own),
            layout,
            streams: false,
            prefetches: false,
            turns_round: false,
            variant,
            options,
        };
        let bytes = num_envs * config.observers() * config.row_bytes();
        let processor = Processor::this();
        config.streams = bytes >= processor.streams_from();
        // Packed rows are too small to gain from either.
        let writes_much = !config.streams && config.options.dtype != Dtype::Bits;
        let is_written_in_lines = config.simd != Simd::Portable;
        config.prefetches =
            writes_much && is_written_in_lines && processor.gains_from_prefetching();
        config.turns_round = writes_much;
        Ok(config)
    }

    /// The number of observation rows for each game.
    #[inline(always)]
    pub fn observers(&self) -> usize {
        match self.options.observers {
            Observers::Current => 1,
            Observers::All => self.variant.players().into(),
        }
    }

    /// The size of an observation row in bytes.
    fn row_bytes(&self) -> usize {
        let element = match self.options.dtype {
            Dtype::Float32 => 4,
            Dtype::Float16 => 2,
            Dtype::Uint8 | Dtype::Bits => 1,
        };
        self.row_length() * element
    }

    /// The number of elements in an observation row.
    #[inline(always)]
    pub fn row_length(&self) -> usize {
        match self.options.dtype {
            Dtype::Bits => 8 * self.layout.words(),
            Dtype::Uint8 | Dtype::Float16 | Dtype::Float32 => self.layout.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{AnyEncoder, BitWriter, CANONICAL, Encoder, Layout};
    use crate::rules::{Parameters, View};

    /// An encoder that claims to be canonical but has a layout of its own.
    struct Impostor;

    impl Encoder for Impostor {
        fn name(&self) -> &'static str {
            "impostor"
        }

        fn canonical_knowledge(&self) -> Option<CanonicalKnowledge> {
            Some(CanonicalKnowledge::Hinted)
        }

        fn layout(&self, _: &Variant) -> Layout {
            Layout::default().with_section("bit", &[1])
        }

        fn encode(&self, _: &View<'_>, bits: &mut BitWriter<'_>) {
            bits.push(1, 1);
        }
    }

    /// An encoder of what a seat sees that claims to be the one with all cards.
    struct Spy;

    impl Encoder for Spy {
        fn name(&self) -> &'static str {
            "spy"
        }

        fn canonical_knowledge(&self) -> Option<CanonicalKnowledge> {
            Some(CanonicalKnowledge::Full)
        }

        fn layout(&self, variant: &Variant) -> Layout {
            CANONICAL.layout(variant)
        }

        fn encode(&self, view: &View<'_>, bits: &mut BitWriter<'_>) {
            CANONICAL.encode(view, bits);
        }
    }

    #[test]
    fn an_encoder_of_what_a_seat_sees_gets_no_rows_with_all_cards() {
        let variant = Arc::new(Variant::new(Parameters::default()).unwrap());
        let options = Options { encoder: AnyEncoder::Seat(&Spy), ..Options::default() };
        assert_eq!(BatchConfig::new(variant, 1, options).unwrap().canonical, None);
    }

    #[test]
    fn only_canonical_layouts_are_written_by_the_kernel() {
        let variant = Arc::new(Variant::new(Parameters::default()).unwrap());
        for encoder in ENCODERS {
            let options = Options { encoder: *encoder, ..Options::default() };
            let config = BatchConfig::new(variant.clone(), 1, options).unwrap();
            assert_eq!(config.canonical, encoder.canonical_knowledge());
        }
        let options = Options { encoder: AnyEncoder::Seat(&Impostor), ..Options::default() };
        assert_eq!(BatchConfig::new(variant, 1, options).unwrap().canonical, None);
    }
}
