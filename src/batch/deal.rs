//! A new game in one lane: [`crate::rules::Position::deal`], without leaving the block.

use super::block::{CHANCE, COUNTERS, DECK, DISCARDS, EVENT, FIREWORKS, NEXT, counter};
use super::kernel::Kernel;
use super::lanes::{Isa, Word};
use super::plan::Sizes;
use crate::rules::{Chance, EpisodeSeed};

impl<I: Isa, const STANDARD: usize> Kernel<'_, I, STANDARD> {
    /// Deals the game of this seed; its legal actions are still to be found.
    #[inline(always)]
    pub fn deal(&self, block: &mut [Word], lane: usize, step: usize, seed: EpisodeSeed) {
        let (sizes, players) = (self.sizes(), self.sizes().players);
        let mut chance = Chance::new(seed);
        let start =
            if sizes.random_start_player { chance.below(players as u32) as usize } else { 0 };
        let mut left = u64::MAX >> (64 - sizes.deck_size);
        let mut size = sizes.deck_size as u32;
        for seat in 0..players {
            let offset = if seat >= start { seat - start } else { seat + players - start };
            let hand = self.sizes().hand(step, offset);
            for slot in 0..self.sizes().hand_size {
                let copy = self.isa.nth_set_bit(left, chance.below(size).into());
                left &= !copy;
                size -= 1;
                block[hand + slot].0[lane] = self.plan.drawn.0[copy.trailing_zeros() as usize];
            }
        }
        let counters = [
            (counter::INFORMATION, sizes.max_information_tokens as u64),
            (counter::LIVES, sizes.max_life_tokens as u64),
            (counter::DECK, size.into()),
            (counter::TURNS, players as u64),
            (counter::PLAYER, start as u64),
        ];
        let counters = counters.into_iter().fold(0, |word, (shift, value)| word | value << shift);
        let words = [
            (DECK, left),
            (DISCARDS, 0),
            (NEXT, sizes.lowest),
            (FIREWORKS, 0),
            (COUNTERS, counters),
            (EVENT, 0),
            (CHANCE, chance.0),
        ];
        for (word, value) in words {
            block[word].0[lane] = value;
        }
    }
}

impl Sizes {
    /// Gives the turn back to the player who forfeited in a lane: the player to act stays, while
    /// all other games go on by a seat.
    pub fn keep_player(self, block: &mut [Word], lane: usize, step: usize) {
        let Sizes { players, hand_size, .. } = self;
        for slot in 0..hand_size {
            let mut cards = [0; crate::rules::MAX_PLAYERS];
            for (offset, card) in cards.iter_mut().enumerate().take(players) {
                *card = block[self.hand(step, offset) + slot].0[lane];
            }
            for (offset, &card) in cards.iter().enumerate().take(players) {
                let hand = self.hand((step + 1) % players, offset);
                block[hand + slot].0[lane] = card;
            }
        }
    }
}
