//! The results of a step in the eight games of a block.

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::batch::kernel::block::{Block, Field, counter};
use crate::batch::kernel::lanes::{Isa, LANES, Lanes};
use crate::batch::kernel::turn::TurnResult;
use crate::batch::outputs::Outputs;
use crate::batch::tables::partner_game::PartnerGameResult;
use crate::buffers::initialised;

/// Writes the elements of up to eight games, if the caller has given the buffer; else the values
/// are not computed.
macro_rules! put {
    ($buffer:expr, $games:expr, $values:expr) => {
        if let Some(buffer) = &mut $buffer {
            put(&mut buffer.lend().elements()[$games.clone()], $values);
        }
    };
}

impl TurnResult {
    /// Sets the result of one game with partners.
    pub fn set(&mut self, lane: usize, step: PartnerGameResult) {
        self.reward.0[lane] = step.reward as u64;
        self.last.0[lane] = step.last.unwrap_or(0);
        self.ended |= u8::from(step.last.is_some()) << lane;
        self.forfeited |= u8::from(step.was_illegal) << lane;
    }

    /// Writes all outputs that have one element for each game. The games are in the first lanes of
    /// the block.
    #[inline(always)]
    pub fn write<I: Isa, const VARIANT: usize>(
        &self,
        block: &Block<'_, I, VARIANT>,
        games: Range<usize>,
        outputs: &mut Outputs<'_>,
    ) {
        let (now, last) = (block.load(Field::Counters), block.isa.load(&self.last));
        let reward = block.isa.load(&self.reward);
        put!(outputs.reward, games, reward.narrow().map(|reward| reward as f32));
        put!(outputs.terminated, games, bools(self.ended));
        put!(outputs.truncated, games, [false; LANES]);
        put!(outputs.illegal_action, games, bools(self.forfeited));
        put!(outputs.current_player, games, block.bits(now, counter::PLAYER, 8).narrow());
        put!(outputs.score, games, score(block, now).narrow());
        put!(outputs.final_score, games, score(block, last).narrow());
        put!(outputs.final_length, games, block.bits(last, counter::LENGTH, 8).narrow());
        let ending = block.bits(last, counter::ENDING, 8);
        put!(outputs.final_ending, games, ending.narrow().map(|ending| ending as i8));
    }
}

/// The scores that the counters tell.
#[inline(always)]
fn score<I: Isa, const VARIANT: usize>(
    block: &Block<'_, I, VARIANT>,
    counters: I::Lanes,
) -> I::Lanes {
    let score = block.bits(counters, counter::SCORE, 8);
    if !block.constants().forfeits {
        return score;
    }
    // Bit 0 of an ending's code marks a defeat.
    score.masked(!counters.intersects(block.bit(counter::ENDING)))
}

#[inline(always)]
fn put<T: Copy>(to: &mut [MaybeUninit<T>], values: [T; LANES]) {
    let values = initialised(values);
    if let Ok(eight) = <&mut [MaybeUninit<T>; LANES]>::try_from(&mut *to) {
        // The length is a constant here.
        *eight = values;
    } else {
        put_some(to, &values);
    }
}

/// Writes fewer than eight elements. If it were inlined, the compiler would join both branches into
/// one copy of variable length.
#[cold]
#[inline(never)]
fn put_some<T: Copy>(to: &mut [MaybeUninit<T>], values: &[MaybeUninit<T>; LANES]) {
    to.copy_from_slice(&values[..to.len()]);
}

/// One bool for each bit.
#[inline(always)]
fn bools(bits: u8) -> [bool; LANES] {
    const EACH_BYTE: u64 = 0x0101_0101_0101_0101;
    const OWN_BIT: u64 = 0x8040_2010_0804_0201;
    let own = (u64::from(bits) * EACH_BYTE) & OWN_BIT;
    let highest = own + (0x80 - 1) * EACH_BYTE;
    (highest >> 7 & EACH_BYTE).to_le_bytes().map(|byte| byte != 0)
}
