//! What a step of a replay does beside playing: stored games follow those that leave.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::batch::kernel::block::{Block, Field, counter};
use crate::batch::kernel::draw_order::DrawOrder;
use crate::batch::kernel::lanes::{Isa, LANES};
use crate::batch::kernel::turn::TurnResult;
use crate::rules::{Ending, Recording, Variant};

/// No game: in a row that has played its last one.
pub const NONE: usize = usize::MAX;

/// The games that follow those that leave in a step of a replay.
#[derive(Clone, Copy)]
pub struct NextGames<'a> {
    pub games: &'a Recording,
    /// For each block the rows whose games leave, one bit each.
    pub leaving: &'a [u8],
    /// For each row the game that follows, or [`NONE`].
    pub next: &'a [usize],
    /// The lowest row whose action is illegal, or whose game ended before its last action.
    pub wrong: &'a AtomicUsize,
}

impl NextGames<'_> {
    /// The games of a block that leave, one bit each. `row` is the block's first.
    #[inline(always)]
    pub fn leaving(&self, row: usize, turn: &TurnResult) -> u8 {
        let leaving = self.leaving[row / LANES];
        let wrong = turn.forfeited | (turn.ended & !leaving);
        if wrong != 0 {
            self.wrong.fetch_min(row + wrong.trailing_zeros() as usize, Ordering::Relaxed);
        }
        leaving
    }

    /// Deals the next game of a row in a lane of a block, or ends the last one. It is kept apart
    /// from the step's code, which would otherwise need more registers.
    #[inline(never)]
    pub fn deal<I: Isa, const VARIANT: usize>(
        &self,
        variant: &Variant,
        block: &mut Block<'_, I, VARIANT>,
        row: usize,
        lane: usize,
        order: &mut Option<DrawOrder>,
    ) {
        let game = self.next[row];
        if game == NONE {
            *order = None;
            let over = (Ending::DeckExhausted.code() as u64) << counter::ENDING;
            let counters = block.word(Field::Counters).0[lane];
            block.set_field(Field::Counters, lane, counters & !(0xff << counter::ENDING) | over);
            return;
        }
        let num_dealt = block.constants().dealt_cards();
        let (next, hands) = DrawOrder::new(variant, self.games.game(game).cards(), num_dealt);
        *order = Some(next);
        let start_player = self.games.arrays().start_players[game].into();
        block.deal_copies(lane, start_player, &hands.dealt, hands.left);
    }
}
