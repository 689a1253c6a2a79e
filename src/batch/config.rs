//! The settings of a batch, and what follows from them for all its games and threads.

use std::sync::Arc;

use super::kernel::variant::KernelVariant;
use super::options::{Dtype, Observers, Options};
use crate::buffers::{InstructionSet, InstructionSetError};
use crate::encode::Layout;
use crate::processor::Processor;
use crate::rules::Variant;

/// What all games and threads of a batch share: it is not changed after the batch was made.
#[derive(Clone, Debug)]
pub(super) struct BatchConfig {
    pub variant: Arc<Variant>,
    pub layout: Layout,
    pub options: Options,
    /// On the heap, because its tables are aligned to 64 bytes and Python does not align a batch.
    pub kernel_variant: Arc<KernelVariant>,
    pub simd: InstructionSet,
    /// Whether observations are written with non-temporal stores, because the caches cannot hold
    /// them.
    pub streams: bool,
    /// Whether the cache lines of later rows are prefetched while a row is written.
    pub prefetches: bool,
    /// Whether steps alternate between ascending and descending order of the games: a step then
    /// begins with the observations that the last one has left in a cache too small for all of
    /// them.
    pub alternates: bool,
}

impl BatchConfig {
    pub fn new(
        variant: Arc<Variant>,
        num_envs: usize,
        options: Options,
    ) -> Result<BatchConfig, InstructionSetError> {
        let layout = options.encoder.layout(&variant);
        let mut config = BatchConfig {
            kernel_variant: Arc::new(KernelVariant::new(&variant)),
            simd: options.simd.map_or_else(InstructionSet::chosen, Ok)?,
            layout,
            streams: false,
            prefetches: false,
            alternates: false,
            variant,
            options,
        };
        let bytes = num_envs * config.num_observers() * config.row_bytes();
        let processor = Processor::this();
        config.streams = bytes >= streams_from(processor.cache);
        // Packed rows are too small to gain from either.
        let writes_much = !config.streams && config.options.dtype != Dtype::Bits;
        let is_written_in_lines = config.simd != InstructionSet::PORTABLE;
        // Prefetching is faster on an Intel Xeon and slower on an AMD Zen 3. Other processors are judged by
        // their vendor.
        config.prefetches = writes_much && is_written_in_lines && processor.is_intel;
        config.alternates = writes_much;
        Ok(config)
    }

    /// The number of observation rows for each game.
    #[inline(always)]
    pub fn num_observers(&self) -> usize {
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

/// The bytes of a step's observations from which streaming stores, which bypass the caches, are
/// faster: half of the largest cache, within limits. Other virtual machines may share a cache
/// of hundreds of megabytes, so the whole of it is never counted on.
fn streams_from(cache: Option<usize>) -> usize {
    const MIN_BYTES: usize = 16 << 20;
    const MAX_BYTES: usize = 64 << 20;
    cache.map_or(MIN_BYTES, |cache| (cache / 2).clamp(MIN_BYTES, MAX_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_caches_hold_more_before_rows_are_streamed() {
        assert_eq!(streams_from(None) >> 20, 16);
        let megabytes = |size: usize| streams_from(Some(size << 20)) >> 20;
        assert_eq!([8, 32, 96, 260].map(megabytes), [16, 16, 48, 64]);
    }
}
