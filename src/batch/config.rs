use std::sync::Arc;

use super::kernel::plan::Plan;
use super::kernel::simd::{Simd, SimdError};
use super::options::{Dtype, Observers, Options};
use super::processor::Processor;
use crate::encode::{CanonicalKnowledge, ENCODERS, Layout};
use crate::rules::Variant;

/// What all games and all threads of a batch read.
#[derive(Clone, Debug)]
pub(super) struct BatchConfig {
    pub variant: Arc<Variant>,
    pub layout: Layout,
    pub options: Options,
    /// In memory of its own: its tables are aligned to 64 bytes, which Python would not give a batch.
    pub plan: Arc<Plan>,
    pub simd: Simd,
    /// Whether observations are written past the caches, which would not hold them.
    pub streams: bool,
    /// Whether the memory of rows to come is asked for while a row is written.
    pub prefetches: bool,
    /// Whether steps go through the games forwards and backwards in turn: what the last one wrote at
    /// its end is then still in a cache that does not hold all observations.
    pub turns_round: bool,
    /// How the encoder says what hints have said, where it is a canonical one.
    pub canonical: Option<CanonicalKnowledge>,
}

impl BatchConfig {
    pub fn new(
        variant: Arc<Variant>,
        num_envs: usize,
        options: Options,
    ) -> Result<BatchConfig, SimdError> {
        let layout = options.encoder.layout(&variant);
        // Any encoder can say that it is a canonical one, and the kernel writes as many words as
        // those have: one of another layout is given views.
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
        // Packed rows are too small for either to pay.
        let writes_much = !config.streams && config.options.dtype != Dtype::Bits;
        let is_written_in_lines = config.simd != Simd::Portable;
        config.prefetches =
            writes_much && is_written_in_lines && processor.gains_from_prefetching();
        config.turns_round = writes_much;
        Ok(config)
    }

    #[inline(always)]
    pub fn observers(&self) -> usize {
        match self.options.observers {
            Observers::Current => 1,
            Observers::All => self.variant.players().into(),
        }
    }

    /// Bytes of one observation row.
    fn row_bytes(&self) -> usize {
        let element = match self.options.dtype {
            Dtype::Float32 => 4,
            Dtype::Float16 => 2,
            Dtype::Uint8 | Dtype::Bits => 1,
        };
        self.row_length() * element
    }

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
    use crate::encode::{BitWriter, Encoder, Layout};
    use crate::rules::{Parameters, View};

    /// Says that it is canonical, and is far too short.
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

    #[test]
    fn only_canonical_layouts_are_written_by_the_kernel() {
        let variant = Arc::new(Variant::new(Parameters::default()).unwrap());
        for encoder in ENCODERS {
            let options = Options { encoder: *encoder, ..Options::default() };
            let config = BatchConfig::new(variant.clone(), 1, options).unwrap();
            assert_eq!(config.canonical, encoder.canonical_knowledge());
        }
        let options = Options { encoder: &Impostor, ..Options::default() };
        assert_eq!(BatchConfig::new(variant, 1, options).unwrap().canonical, None);
    }
}
