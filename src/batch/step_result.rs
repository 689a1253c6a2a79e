//! What a step writes about the eight games of a block.

use std::ops::Range;

use super::config::BatchConfig;
use super::kernel::Kernel;
use super::kernel::block::{COUNTERS, LEGAL, counter};
use super::kernel::lanes::{Isa, LANES, Lanes, Word};
use super::kernel::turn::Turn;
use super::outputs::Outputs;
use super::rows::packed::PackedRows;

/// What a step did to eight games, as the outputs tell it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StepResult {
    /// Changes of the scores, as signed numbers.
    reward: Word,
    /// The counters of the games that ended, before any new deal; else zero.
    last: Word,
    /// The games that ended, a bit each.
    ended: u8,
    /// The games that an illegal action ended.
    forfeited: u8,
}

impl StepResult {
    #[inline(always)]
    pub fn new(turn: &Turn) -> StepResult {
        let Turn { reward, last, ended, forfeited, .. } = *turn;
        StepResult { reward, last, ended, forfeited }
    }

    /// Notes what one game did; `last` are its counters if it ended.
    pub fn note(&mut self, lane: usize, reward: i64, last: Option<u64>, forfeited: bool) {
        self.reward.0[lane] = reward as u64;
        self.last.0[lane] = last.unwrap_or(0);
        self.ended |= u8::from(last.is_some()) << lane;
        self.forfeited |= u8::from(forfeited) << lane;
    }
}

/// Writes up to eight elements of a buffer that somebody wants; else they are not even computed.
macro_rules! put {
    ($buffer:expr, $games:expr, $values:expr) => {
        if let Some(buffer) = &mut $buffer {
            put(&mut buffer[$games.clone()], $values);
        }
    };
}

#[inline(always)]
fn put<T: Copy>(to: &mut [T], values: [T; LANES]) {
    if let Ok(eight) = <&mut [T; LANES]>::try_from(&mut *to) {
        *eight = values; // Its length known to the compiler.
    } else {
        put_some(to, &values);
    }
}

/// Writes fewer than eight. Not inlined, or the compiler would make one call of both branches.
#[cold]
#[inline(never)]
fn put_some<T: Copy>(to: &mut [T], values: &[T; LANES]) {
    to.copy_from_slice(&values[..to.len()]);
}

/// Whether each lane's bit is set.
#[inline(always)]
fn yes_or_no(bits: u8) -> [bool; LANES] {
    const EACH_BYTE: u64 = 0x0101_0101_0101_0101;
    const OWN_BIT: u64 = 0x8040_2010_0804_0201;
    let own = (u64::from(bits) * EACH_BYTE) & OWN_BIT;
    let highest = own + (0x80 - 1) * EACH_BYTE;
    (highest >> 7 & EACH_BYTE).to_le_bytes().map(|byte| byte != 0)
}

/// Words of so many bits, at most 64, one after another without gaps.
#[inline(always)]
fn join(words: &[u64; LANES], width: usize) -> [u64; LANES] {
    let mut joined = [0; LANES];
    for (lane, &word) in words.iter().enumerate() {
        let (index, shift) = (lane * width / 64, lane * width % 64);
        joined[index] |= word << shift;
        if shift + width > 64 {
            joined[index + 1] |= word >> (64 - shift);
        }
    }
    joined
}

impl Outputs<'_> {
    /// Writes everything about the games of one block.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "what is written, and what about")]
    pub(super) fn write<I: Isa, const STANDARD: usize>(
        &mut self,
        kernel: &Kernel<'_, I, STANDARD>,
        config: &BatchConfig,
        block: &[Word],
        step: usize,
        games: Range<usize>,
        written: &StepResult,
        encoded: &mut PackedRows,
    ) {
        if let Some(obs) = &mut self.obs {
            kernel.write_rows(config, block, step, &games, obs, encoded);
        }
        if let Some(mask) = &mut self.action_mask {
            kernel.write_mask(block, &games, mask);
        }
        let (now, last) = (kernel.load(block, COUNTERS), kernel.isa.load(&written.last));
        let reward = kernel.isa.load(&written.reward);
        put!(self.reward, games, reward.narrow().map(|reward| reward as f32));
        put!(self.terminated, games, yes_or_no(written.ended));
        put!(self.truncated, games, [false; LANES]);
        put!(self.illegal_action, games, yes_or_no(written.forfeited));
        put!(self.current_player, games, kernel.field(now, counter::PLAYER, 8).narrow());
        put!(self.score, games, kernel.score(now).narrow());
        put!(self.final_score, games, kernel.score(last).narrow());
        put!(self.final_length, games, kernel.field(last, counter::LENGTH, 8).narrow());
        let ending = kernel.field(last, counter::ENDING, 8);
        put!(self.final_ending, games, ending.narrow().map(|ending| ending as i8));
    }
}

impl<I: Isa, const STANDARD: usize> Kernel<'_, I, STANDARD> {
    /// Writes whether each action is legal.
    #[inline(always)]
    fn write_mask(&self, block: &[Word], games: &Range<usize>, mask: &mut [bool]) {
        let num_actions = self.sizes().num_actions();
        let rows = &mut mask[num_actions * games.start..num_actions * games.end];
        if games.len() == LANES && num_actions <= 64 {
            let joined = join(&block[LEGAL[0]].0, num_actions);
            return self.isa.expand_words(&joined, rows);
        }
        for (lane, row) in rows.chunks_exact_mut(num_actions).enumerate() {
            let legal = LEGAL.map(|word| block[word].0[lane]);
            self.isa.expand_words(&legal, row);
        }
    }

    /// The scores as the games stand.
    #[inline(always)]
    fn score(&self, counters: I::Lanes) -> I::Lanes {
        let score = self.field(counters, counter::SCORE, 8);
        if !self.sizes().forfeits {
            return score;
        }
        // The lowest bit of an ending's code says defeat.
        score.keep(!counters.shares(self.bit(counter::ENDING)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined_bit_by_bit() {
        let words: [u64; LANES] = std::array::from_fn(|lane| {
            0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(lane as u64 + 1).rotate_left(lane as u32)
        });
        for width in 1..=64 {
            let words = words.map(|word| word >> (64 - width));
            let joined = join(&words, width);
            for at in 0..LANES * 64 {
                let expected = at < LANES * width && words[at / width] >> (at % width) & 1 == 1;
                assert_eq!(joined[at / 64] >> (at % 64) & 1 == 1, expected, "{width}: {at}");
            }
        }
    }
}
