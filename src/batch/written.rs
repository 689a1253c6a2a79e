//! What a step writes about the eight games of a block.

use std::ops::Range;

use super::block::{COUNTERS, LEGAL, counter};
use super::buffers::Outputs;
use super::kernel::Kernel;
use super::lanes::{Isa, LANES, Lanes, Word};
use super::rows::Scratch;
use super::shared::Shared;
use super::turn::Turn;

/// What a step did to eight games, as the outputs tell it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Written {
    /// Changes of the scores, as signed numbers.
    reward: Word,
    /// The counters of the games that ended, before any new deal; else zero.
    last: Word,
    /// The games that ended, a bit each.
    ended: u8,
    /// The games that an illegal action ended.
    forfeited: u8,
}

impl Written {
    #[inline(always)]
    pub fn new(turn: &Turn) -> Written {
        let Turn { reward, last, ended, forfeited, .. } = *turn;
        Written { reward, last, ended, forfeited }
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
        to.copy_from_slice(&values[..to.len()]);
    }
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

impl Outputs<'_> {
    /// Writes everything about the games of one block.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "what is written, and what about")]
    pub(super) fn write<I: Isa, const STANDARD: usize>(
        &mut self,
        kernel: &Kernel<'_, I, STANDARD>,
        shared: &Shared,
        block: &[Word],
        step: usize,
        games: Range<usize>,
        written: &Written,
        scratch: &mut Scratch,
    ) {
        if let Some(obs) = &mut self.obs {
            kernel.write_rows(shared, block, step, &games, obs, scratch);
        }
        if let Some(mask) = &mut self.action_mask {
            let num_actions = kernel.sizes().num_actions();
            for (lane, game) in games.clone().enumerate() {
                let legal = LEGAL.map(|word| block[word].0[lane]);
                let row = &mut mask[game * num_actions..][..num_actions];
                kernel.isa.expand_row::<bool, false>(&legal, row);
            }
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
