//! Bytes that are accepted as a stored batch are those that the batch stores again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use starmine::batch::Batch;

/// The length of the checksum, which the mutations would rarely meet.
const CHECKSUM: usize = 4;

fuzz_target!(|data: &[u8]| {
    let mut bytes = data[..data.len().saturating_sub(CHECKSUM)].to_vec();
    bytes.extend(crc32(&bytes).to_le_bytes());
    if let Ok(batch) = Batch::from_bytes(&bytes, Some(1)) {
        assert_eq!(batch.to_bytes().expect("there is memory"), bytes);
    }
});

/// CRC-32 as in zlib, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| sum >> 1 ^ (sum & 1) * 0xEDB8_8320)
    })
}
