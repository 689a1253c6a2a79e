//! The processor that runs the crate: no other module asks which one it is.

use std::sync::OnceLock;

/// What is known about the processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Processor {
    pub is_intel: bool,
    /// Whether `pdep` and `pext` are instructions of a few cycles. Processors of AMD and of Hygon before
    /// Zen 3 run them as microcode: some cycles for each set bit of the mask.
    pub has_fast_bmi2: bool,
    /// Bytes of the largest cache, if the processor reports it.
    pub cache: Option<usize>,
}

impl Processor {
    /// Queried once: in a virtual machine each query is answered by the host, which takes
    /// microseconds.
    #[inline]
    pub fn this() -> Processor {
        static THIS: OnceLock<Processor> = OnceLock::new();
        *THIS.get_or_init(Processor::query)
    }

    #[cfg(target_arch = "x86_64")]
    #[cold]
    fn query() -> Processor {
        let cpuid = raw_cpuid::CpuId::new();
        let vendor = cpuid.get_vendor_info();
        let vendor = vendor.as_ref().map_or("", |vendor| vendor.as_str());
        let family = cpuid.get_feature_info().map_or(0, |features| features.family_id());
        let caches = cpuid.get_cache_parameters().into_iter().flatten();
        let bytes = |cache: raw_cpuid::CacheParameter| {
            let lines = cache.sets() * cache.associativity() * cache.physical_line_partitions();
            lines * cache.coherency_line_size()
        };
        Processor {
            is_intel: vendor == "GenuineIntel",
            has_fast_bmi2: is_x86_feature_detected!("bmi2") && !runs_as_microcode(vendor, family),
            cache: caches.map(bytes).max(),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn query() -> Processor {
        Processor { is_intel: false, has_fast_bmi2: false, cache: None }
    }
}

/// Whether processors of this vendor and family run `pdep` and `pext` as microcode. Zen 3 is family 0x19.
#[cfg(target_arch = "x86_64")]
fn runs_as_microcode(vendor: &str, family: u8) -> bool {
    matches!(vendor, "AuthenticAMD" | "HygonGenuine") && family < 0x19
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn processors_before_zen_3_run_the_instructions_as_microcode() {
        let slow = [("AuthenticAMD", 0x17), ("HygonGenuine", 0x18)];
        let fast = [("AuthenticAMD", 0x19), ("AuthenticAMD", 0x1a), ("GenuineIntel", 6)];
        assert!(slow.iter().all(|&(vendor, family)| runs_as_microcode(vendor, family)));
        assert!(!fast.iter().any(|&(vendor, family)| runs_as_microcode(vendor, family)));
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
