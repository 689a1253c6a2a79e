//! Which processor runs the batch, and how rows are best written on it.

use std::sync::OnceLock;

/// What decides how rows are written.
#[derive(Clone, Copy, Debug)]
pub(in crate::batch) struct Processor {
    is_intel: bool,
    /// Bytes of the largest cache, if the processor reports it.
    cache: Option<usize>,
}

impl Processor {
    /// Queried once: in a virtual machine each query is answered by the host, which takes
    /// microseconds.
    pub fn this() -> Processor {
        static THIS: OnceLock<Processor> = OnceLock::new();
        *THIS.get_or_init(Processor::query)
    }

    #[cfg(target_arch = "x86_64")]
    fn query() -> Processor {
        let cpuid = raw_cpuid::CpuId::new();
        let vendor = cpuid.get_vendor_info();
        let caches = cpuid.get_cache_parameters().into_iter().flatten();
        let bytes = |cache: raw_cpuid::CacheParameter| {
            let lines = cache.sets() * cache.associativity() * cache.physical_line_partitions();
            lines * cache.coherency_line_size()
        };
        Processor {
            is_intel: vendor.is_some_and(|vendor| vendor.as_str() == "GenuineIntel"),
            cache: caches.map(bytes).max(),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn query() -> Processor {
        Processor { is_intel: false, cache: None }
    }

    /// Whether to prefetch the memory of rows before they are written. It is faster on an Intel
    /// Xeon and slower on an AMD Zen 3; other processors are judged by their vendor.
    pub fn gains_from_prefetching(self) -> bool {
        self.is_intel
    }

    /// The bytes of a step's observations from which streaming stores, which bypass the caches, are
    /// faster: half of the largest cache, within limits. Other virtual machines may share a cache
    /// of hundreds of megabytes, so the whole of it is never counted on.
    pub fn streams_from(self) -> usize {
        const MIN_BYTES: usize = 16 << 20;
        const MAX_BYTES: usize = 64 << 20;
        self.cache.map_or(MIN_BYTES, |cache| (cache / 2).clamp(MIN_BYTES, MAX_BYTES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_caches_hold_more_before_rows_are_streamed() {
        let streams_from = |cache| Processor { is_intel: false, cache }.streams_from() >> 20;
        assert_eq!(streams_from(None), 16);
        assert_eq!([8, 32, 96, 260].map(|size| streams_from(Some(size << 20))), [16, 16, 48, 64]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_cache_is_the_one_that_the_system_reports() {
        let path = "/sys/devices/system/cpu/cpu0/cache/index3/size";
        let Ok(size) = std::fs::read_to_string(path) else { return };
        let kilobytes: usize = size.trim().trim_end_matches('K').parse().unwrap();
        if let Some(cache) = Processor::this().cache {
            assert_eq!(cache, kilobytes << 10);
        }
    }
}
