//! The processor that runs the crate, as far as its speed in some code depends on it.

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
        Processor {
            is_intel: vendor == "GenuineIntel",
            has_fast_bmi2: is_x86_feature_detected!("bmi2") && !runs_as_microcode(vendor, family),
            cache: largest_cache(&cpuid),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn query() -> Processor {
        Processor { is_intel: false, has_fast_bmi2: false, cache: None }
    }
}

/// Bytes of the largest cache that a processor reports.
#[cfg(target_arch = "x86_64")]
fn largest_cache(cpuid: &raw_cpuid::CpuId<impl raw_cpuid::CpuIdReader>) -> Option<usize> {
    let bytes = |cache: raw_cpuid::CacheParameter| {
        let lines = cache.sets() * cache.associativity() * cache.physical_line_partitions();
        lines * cache.coherency_line_size()
    };
    cpuid.get_cache_parameters().into_iter().flatten().map(bytes).max()
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
    #[cfg(target_arch = "x86_64")]
    fn the_cache_is_the_largest_one_that_the_processor_lists() {
        // What a processor of Intel with 32 KiB and 19.25 MiB of data caches answers.
        let answers = |leaf, subleaf| {
            let [eax, ebx, ecx, edx] = match (leaf, subleaf) {
                (0, _) => [4, 0x756e_6547, 0x6c65_746e, 0x4965_6e69],
                (4, 0) => [0x21, 7 << 22 | 63, 63, 0],
                (4, 1) => [0x63, 10 << 22 | 63, 28_671, 0],
                _ => [0; 4],
            };
            raw_cpuid::CpuIdResult { eax, ebx, ecx, edx }
        };
        let cpuid = raw_cpuid::CpuId::with_cpuid_reader(answers);
        assert_eq!(largest_cache(&cpuid), Some((19 << 20) + (1 << 18)));
    }
}
