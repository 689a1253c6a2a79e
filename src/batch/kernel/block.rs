//! Eight games in memory, and access to their words.
//!
//! A block is a run of [`Word`]s: one for each [`Field`], then one for each slot of each hand, hand
//! after hand. Every game of a batch moves on by one seat in each step, so the acting player's hand
//! has the same place in all blocks: its index is the number of steps modulo the number of players.
//! The hands of the other players follow it in turn order, cyclically.

use std::ops::Deref;

use super::Kernel;
use super::lanes::{Isa, LANES, Lanes, Word};
use super::variant::Constants;
use crate::rules::Ending;

/// A word of a block that is not a card.
#[derive(Clone, Copy, Debug)]
pub enum Field {
    /// The copies that are left in the deck, one bit each.
    Deck,
    /// The discarded copies: of each card as many bits, from its lowest on, as were discarded.
    Discards,
    /// The next card of each firework, one bit each.
    Next,
    /// The highest card of each firework, one bit each.
    Fireworks,
    /// The counters, one byte each: see [`counter`].
    Counters,
    /// The last turn, without its player, who is always the one before the acting player.
    Event,
    /// The state of the random number generator.
    Rng,
    /// The legal actions with ids below 64, one bit each.
    LowActions,
    /// The legal actions with ids from 64 on.
    HighActions,
}

/// The number of fields.
const FIELDS: usize = Field::HighActions as usize + 1;

/// The bit at which each counter begins in the word of the counters.
pub mod counter {
    pub const INFORMATION: usize = 0;
    pub const LIVES: usize = 8;
    pub const DECK: usize = 16;
    /// Turns that are left once the deck is empty.
    pub const TURNS: usize = 24;
    pub const SCORE: usize = 32;
    pub const ENDING: usize = 40;
    pub const PLAYER: usize = 48;
    /// Turns played, below 256: each turn takes a card or a token, and a card returns at most two
    /// tokens.
    pub const LENGTH: usize = 56;
}

/// The counter that begins at this bit.
pub const fn count(counters: u64, shift: usize) -> u8 {
    (counters >> shift) as u8
}

/// The ending that the counters tell, if the game is over.
pub fn ending(counters: u64) -> Option<Ending> {
    let code = usize::from(count(counters, counter::ENDING));
    code.checked_sub(1).map(|index| Ending::ALL[index])
}

/// The number of words in a block.
#[inline(always)]
pub const fn block_words(constants: Constants) -> usize {
    FIELDS + constants.players * constants.hand_size
}

/// The index of the first card of the hand at this offset from the acting player.
#[inline(always)]
pub const fn hand_start(constants: Constants, acting_hand: usize, offset: usize) -> usize {
    // Both numbers are below the number of players.
    let sum = acting_hand + offset;
    FIELDS
        + if sum >= constants.players { sum - constants.players } else { sum } * constants.hand_size
}

/// Where one game lies: in which lane of a block, and where the acting player's hand is in it.
#[derive(Clone, Copy, Debug)]
pub struct GameLane {
    pub lane: usize,
    pub acting_hand: usize,
}

/// Makes every game of a block a finished one.
pub fn clear_block(words: &mut [Word]) {
    words.fill(Word::default());
    words[Field::Counters as usize] = Word([1 << counter::ENDING; LANES]);
}

/// Eight games, opened for the kernel: it has all words of a block, and `acting_hand` is below the
/// number of players.
pub struct Block<'a, I, const VARIANT: usize> {
    kernel: Kernel<'a, I, VARIANT>,
    words: &'a mut [Word],
    acting_hand: usize,
}

impl<'a, I, const VARIANT: usize> Deref for Block<'a, I, VARIANT> {
    type Target = Kernel<'a, I, VARIANT>;

    #[inline(always)]
    fn deref(&self) -> &Kernel<'a, I, VARIANT> {
        &self.kernel
    }
}

impl<'a, I: Isa, const VARIANT: usize> Block<'a, I, VARIANT> {
    /// Opens the words of a block, in which the acting player's hand has this index.
    ///
    /// # Panics
    /// If there is another number of words, or no such hand.
    #[inline(always)]
    pub fn new(
        kernel: Kernel<'a, I, VARIANT>,
        words: &'a mut [Word],
        acting_hand: usize,
    ) -> Block<'a, I, VARIANT> {
        assert!(
            words.len() == block_words(kernel.constants())
                && acting_hand < kernel.constants().players
        );
        Block { kernel, words, acting_hand }
    }

    /// All words of the block.
    pub fn words(&self) -> &[Word] {
        self.words
    }

    /// The index of a card's word, which is in the block.
    #[inline(always)]
    fn card_index(&self, offset: usize, slot: usize) -> usize {
        let constants = self.constants();
        // Nearly always decided when the kernel is compiled.
        assert!(offset < constants.players && slot < constants.hand_size);
        hand_start(constants, self.acting_hand, offset) + slot
    }

    /// A field of all games.
    #[inline(always)]
    pub fn word(&self, field: Field) -> &Word {
        // SAFETY: every field's index is below `FIELDS`, and no block has fewer words.
        unsafe { self.words.get_unchecked(field as usize) }
    }

    /// Reads a field of all games.
    #[inline(always)]
    pub fn load(&self, field: Field) -> I::Lanes {
        self.isa.load(self.word(field))
    }

    /// Writes a field of all games.
    #[inline(always)]
    pub fn store(&mut self, field: Field, lanes: I::Lanes) {
        // SAFETY: every field's index is below `FIELDS`, and no block has fewer words.
        lanes.store(unsafe { self.words.get_unchecked_mut(field as usize) });
    }

    /// Reads the card in a slot of the hand at this offset from the acting player.
    #[inline(always)]
    pub fn card(&self, offset: usize, slot: usize) -> I::Lanes {
        let index = self.card_index(offset, slot);
        // SAFETY: `card_index` gives an index in the block.
        self.isa.load(unsafe { self.words.get_unchecked(index) })
    }

    /// Writes the card in a slot of the hand at this offset from the acting player.
    #[inline(always)]
    pub fn store_card(&mut self, offset: usize, slot: usize, card: I::Lanes) {
        let index = self.card_index(offset, slot);
        // SAFETY: `card_index` gives an index in the block.
        card.store(unsafe { self.words.get_unchecked_mut(index) });
    }

    /// Writes a field of one game.
    #[inline(always)]
    pub fn set_field(&mut self, field: Field, lane: usize, value: u64) {
        self.words[field as usize].0[lane] = value;
    }

    /// Writes a card of one game.
    #[inline(always)]
    pub fn set_card(&mut self, offset: usize, slot: usize, lane: usize, card: u64) {
        let index = self.card_index(offset, slot);
        self.words[index].0[lane] = card;
    }

    /// Undoes the change of the acting player in one game: its hands move so that after the step
    /// the same player acts again.
    #[inline(always)]
    pub fn keep_player(&mut self, lane: usize) {
        let Constants { players, hand_size, .. } = self.constants();
        let first = FIELDS;
        for slot in 0..hand_size {
            let last = self.words[first + (players - 1) * hand_size + slot].0[lane];
            for hand in (1..players).rev() {
                let card = self.words[first + (hand - 1) * hand_size + slot].0[lane];
                self.words[first + hand * hand_size + slot].0[lane] = card;
            }
            self.words[first + slot].0[lane] = last;
        }
    }
}
