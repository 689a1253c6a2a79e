use std::sync::Arc;

use super::options::{Dtype, Observers, Options};
use super::plan::Plan;
use super::simd::{Simd, SimdError};
use crate::encode::{CanonicalKnowledge, Layout};
use crate::rules::Variant;

/// Bytes of a step's observations from which they are written past the caches. Measured with 32 MB of
/// last-level cache: at 20 MB streaming takes 0.74 to 0.84 of the time, as the games and what else the
/// caller works on need the cache too; at 5 MB it takes twice as long.
const STREAM_FROM: usize = 16 << 20;

/// What all games and all threads of a batch read.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub variant: Arc<Variant>,
    pub layout: Layout,
    pub options: Options,
    pub plan: Plan,
    pub simd: Simd,
    /// Whether observations are written past the caches, which would not hold them.
    pub streams: bool,
    /// How the encoder says what hints have said, where it is a canonical one.
    pub canonical: Option<CanonicalKnowledge>,
}

impl Shared {
    pub fn new(
        variant: Arc<Variant>,
        num_envs: usize,
        options: Options,
    ) -> Result<Shared, SimdError> {
        let mut shared = Shared {
            layout: options.encoder.layout(&variant),
            plan: Plan::new(&variant),
            simd: options.simd.map_or_else(Simd::chosen, Simd::require)?,
            canonical: options.encoder.canonical_knowledge(),
            streams: false,
            variant,
            options,
        };
        let bytes = num_envs * shared.observers() * shared.row_bytes();
        shared.streams = bytes >= STREAM_FROM;
        Ok(shared)
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
