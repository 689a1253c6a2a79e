//! A new game in one lane of a block: [`crate::rules::Position::deal`].

use super::block::{Block, Field, counter};
use super::lanes::{Isa, LANES, Lanes, Word};
use super::pcg32::{advance, jump, random_below};
use crate::rules::{MAX_HAND_SIZE, MAX_PLAYERS};

/// How many words of [`LANES`] cards are enough for all hands.
const DEALT_WORDS: usize = (MAX_PLAYERS * MAX_HAND_SIZE).div_ceil(LANES);

/// For each dealt card the factor and the summand that advance the first state of the random number
/// generator to that card's.
static STEPS: [[Word; 2]; DEALT_WORDS] = {
    let mut steps = [[Word([0; LANES]); 2]; DEALT_WORDS];
    let mut card = 0;
    while card < DEALT_WORDS * LANES {
        let (factor, summand) = jump(card);
        steps[card / LANES][0].0[card % LANES] = factor;
        steps[card / LANES][1].0[card % LANES] = summand;
        card += 1;
    }
    steps
};

/// For each dealt card the number of cards dealt before it.
static DEALT_BEFORE: [Word; DEALT_WORDS] = {
    let mut dealt = [Word([0; LANES]); DEALT_WORDS];
    let mut card = 0;
    while card < DEALT_WORDS * LANES {
        dealt[card / LANES].0[card % LANES] = card as u64;
        card += 1;
    }
    dealt
};

impl<I: Isa, const VARIANT: usize> Block<'_, I, VARIANT> {
    /// Deals a new game with the random number generator in this state. Its legal actions are found
    /// by [`Block::find_actions`].
    #[inline(always)]
    pub fn deal(&mut self, lane: usize, mut state: u64) {
        let (constants, players) = (self.constants(), self.constants().players);
        let mut start = 0;
        if constants.random_start_player {
            let mut numbers = Word::default();
            random_below(self.isa, self.splat(state), self.splat(players as u64))
                .store(&mut numbers);
            start = numbers.0[0] as usize;
            state = advance(state, jump(1));
        }
        // The random numbers of all cards are independent of each other and computed first, eight
        // at a time. Each draw then depends on the one before.
        let mut numbers = [Word::default(); DEALT_WORDS];
        for index in 0..constants.dealt_cards().div_ceil(LANES) {
            let [factors, summands] = &STEPS[index];
            let states = self.splat(state).mul(self.isa.load(factors));
            let states = states + self.isa.load(summands);
            let bounds =
                self.splat(constants.deck_size as u64) - self.isa.load(&DEALT_BEFORE[index]);
            random_below(self.isa, states, bounds).store(&mut numbers[index]);
        }
        state = advance(state, self.variant.dealt);
        let mut left = u64::MAX >> (64 - constants.deck_size);
        let mut dealt = [0; MAX_PLAYERS * MAX_HAND_SIZE];
        for (card, dealt) in dealt.iter_mut().enumerate().take(constants.dealt_cards()) {
            let number = numbers[card / LANES].0[card % LANES];
            let copy = self.isa.nth_set_bit(left, number);
            left &= !copy;
            *dealt = copy.trailing_zeros() as u8;
        }
        self.deal_copies(lane, start, &dealt, left);
        self.set_field(Field::Rng, lane, state);
    }

    /// Deals a new game to this start player: the copies that are dealt, seat by seat, and those
    /// that are left. The generator's state is not set.
    #[inline(always)]
    pub fn deal_copies(&mut self, lane: usize, start: usize, dealt: &[u8], left: u64) {
        let (constants, players) = (self.constants(), self.constants().players);
        for seat in 0..players {
            let offset = if seat >= start { seat - start } else { seat + players - start };
            for slot in 0..constants.hand_size {
                let copy = dealt[seat * constants.hand_size + slot];
                let card = self.variant.drawn.0[usize::from(copy)];
                self.set_card(offset, slot, lane, card);
            }
        }
        let counters = [
            (counter::INFORMATION, constants.max_information_tokens as u64),
            (counter::LIVES, constants.max_life_tokens as u64),
            (counter::DECK, constants.dealt_deck_size() as u64),
            (counter::TURNS, players as u64),
            (counter::PLAYER, start as u64),
        ];
        let counters = counters.into_iter().fold(0, |word, (shift, value)| word | value << shift);
        self.set_field(Field::Deck, lane, left);
        self.set_field(Field::Discards, lane, 0);
        self.set_field(Field::Next, lane, constants.lowest);
        self.set_field(Field::Fireworks, lane, 0);
        self.set_field(Field::Counters, lane, counters);
        self.set_field(Field::Event, lane, 0);
    }
}
