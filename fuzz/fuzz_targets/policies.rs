//! Bytes are a policy, or are refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use starmine::nn::Policy;

fuzz_target!(|data: &[u8]| {
    let _ = Policy::from_bytes(data);
});
