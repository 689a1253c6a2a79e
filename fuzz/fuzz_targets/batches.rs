//! A batch that is read from any bytes stores bytes that give the same batch, and plays on.
#![no_main]

use libfuzzer_sys::fuzz_target;
use starmine::batch::{Batch, Outputs};
use starmine::buffers::WriteOnly;

/// The length of the checksum, which the mutations would rarely meet.
const CHECKSUM: usize = 4;

fuzz_target!(|data: &[u8]| {
    let mut bytes = data[..data.len().saturating_sub(CHECKSUM)].to_vec();
    bytes.extend(crc32(&bytes).to_le_bytes());
    if let Ok(mut batch) = Batch::from_bytes(&bytes, Some(1)) {
        let stored = batch.to_bytes().expect("there is memory");
        let again = Batch::from_bytes(&stored, Some(1)).expect("it is as a batch stores it");
        assert_eq!(again.to_bytes().expect("there is memory"), stored);
        play(&mut batch);
    }
});

/// Plays the first legal action of each game for some turns.
fn play(batch: &mut Batch) {
    let (games, actions) = (batch.num_envs(), batch.variant().num_actions());
    let mut mask = vec![false; games * actions];
    for _ in 0..50 {
        let outputs = Outputs { action_mask: Some(WriteOnly::new(&mut mask)), ..Outputs::default() };
        batch.observe(outputs).expect("the buffer fits");
        let first = |legal: &[bool]| legal.iter().position(|&is_legal| is_legal).unwrap_or(0);
        let chosen: Vec<i64> = mask.chunks(actions).map(|legal| first(legal) as i64).collect();
        // Games that are over wait for a reset in one mode of autoreset.
        if batch.step(&chosen, Outputs::default()).is_err() {
            return;
        }
    }
}

/// CRC-32 as in zlib, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| sum >> 1 ^ (sum & 1) * 0xEDB8_8320)
    })
}
