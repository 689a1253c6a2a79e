//! A new game in one lane: [`crate::rules::Position::deal`], without leaving the block.

use super::Kernel;
use super::block::{CHANCE, COUNTERS, DECK, DISCARDS, EVENT, FIREWORKS, NEXT, counter};
use super::lanes::{Isa, LANES, Lanes, Word};
use super::plan::Sizes;
use crate::rules::{Chance, MAX_HAND_SIZE, MAX_PLAYERS};

/// Runs of [`LANES`] cards that are enough for all hands.
const RUNS: usize = (MAX_PLAYERS * MAX_HAND_SIZE).div_ceil(LANES);

/// The factors and the summands that take a state as many steps further as each card is dealt
/// after the first.
static STEPS: [[Word; 2]; RUNS] = {
    let mut steps = [[Word([0; LANES]); 2]; RUNS];
    let mut card = 0;
    while card < RUNS * LANES {
        let (factor, summand) = Chance::steps(card);
        steps[card / LANES][0].0[card % LANES] = factor;
        steps[card / LANES][1].0[card % LANES] = summand;
        card += 1;
    }
    steps
};

/// How many cards fewer the deck has when each is dealt.
static DEALT: [Word; RUNS] = {
    let mut dealt = [Word([0; LANES]); RUNS];
    let mut card = 0;
    while card < RUNS * LANES {
        dealt[card / LANES].0[card % LANES] = card as u64;
        card += 1;
    }
    dealt
};

impl<I: Isa, const STANDARD: usize> Kernel<'_, I, STANDARD> {
    /// Deals a game by these random numbers; its legal actions are still to be found.
    #[inline(always)]
    pub fn deal(&self, block: &mut [Word], lane: usize, step: usize, mut chance: Chance) {
        let (sizes, players) = (self.sizes(), self.sizes().players);
        let start =
            if sizes.random_start_player { chance.below(players as u32) as usize } else { 0 };
        // The numbers of all cards first, since they do not wait for each other; the draws do.
        let mut numbers = [Word::default(); RUNS];
        for run in 0..sizes.dealt_cards().div_ceil(LANES) {
            let [factors, summands] = &STEPS[run];
            let states = self.splat(chance.0).mul(self.isa.load(factors));
            let states = states + self.isa.load(summands);
            let bounds = self.splat(sizes.deck_size as u64) - self.isa.load(&DEALT[run]);
            self.random_below(states, bounds).store(&mut numbers[run]);
        }
        let (factor, summand) = self.plan.dealt;
        chance.0 = chance.0.wrapping_mul(factor).wrapping_add(summand);
        let mut left = u64::MAX >> (64 - sizes.deck_size);
        let mut card = 0;
        for seat in 0..players {
            let offset = if seat >= start { seat - start } else { seat + players - start };
            let hand = self.sizes().hand(step, offset);
            for slot in 0..self.sizes().hand_size {
                let number = numbers[card / LANES].0[card % LANES];
                let copy = self.isa.nth_set_bit(left, number);
                left &= !copy;
                card += 1;
                block[hand + slot].0[lane] = self.plan.drawn.0[copy.trailing_zeros() as usize];
            }
        }
        let counters = [
            (counter::INFORMATION, sizes.max_information_tokens as u64),
            (counter::LIVES, sizes.max_life_tokens as u64),
            (counter::DECK, sizes.dealt_deck_size() as u64),
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
