//! A new game in one lane: [`crate::rules::Position::deal`], without leaving the block.

use super::Kernel;
use super::block::{COUNTERS, DECK, DISCARDS, EVENT, FIREWORKS, NEXT, RNG, counter};
use super::lanes::{Isa, LANES, Lanes, Word};
use super::pcg32::{advance, jump};
use super::plan::Sizes;
use crate::rules::{MAX_HAND_SIZE, MAX_PLAYERS};

/// Runs of [`LANES`] cards that are enough for all hands.
const RUNS: usize = (MAX_PLAYERS * MAX_HAND_SIZE).div_ceil(LANES);

/// The factors and the summands that take a state as many steps further as each card is dealt
/// after the first.
static STEPS: [[Word; 2]; RUNS] = {
    let mut steps = [[Word([0; LANES]); 2]; RUNS];
    let mut card = 0;
    while card < RUNS * LANES {
        let (factor, summand) = jump(card);
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
    /// Deals a game by the generator in this state; its legal actions are still to be found.
    #[inline(always)]
    pub fn deal(&self, block: &mut [Word], lane: usize, step: usize, mut state: u64) {
        let (sizes, players) = (self.sizes(), self.sizes().players);
        let mut start = 0;
        if sizes.random_start_player {
            let mut numbers = Word::default();
            self.random_below(self.splat(state), self.splat(players as u64)).store(&mut numbers);
            start = numbers.0[0] as usize;
            state = advance(state, jump(1));
        }
        // The numbers of all cards first, since they do not wait for each other; the draws do.
        let mut numbers = [Word::default(); RUNS];
        for run in 0..sizes.dealt_cards().div_ceil(LANES) {
            let [factors, summands] = &STEPS[run];
            let states = self.splat(state).mul(self.isa.load(factors));
            let states = states + self.isa.load(summands);
            let bounds = self.splat(sizes.deck_size as u64) - self.isa.load(&DEALT[run]);
            self.random_below(states, bounds).store(&mut numbers[run]);
        }
        state = advance(state, self.plan.dealt);
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
            (RNG, state),
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
