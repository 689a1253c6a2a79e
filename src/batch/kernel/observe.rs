//! The observations of eight games, as [`Encoder`] writes those of one.

use super::block::{Block, Field, counter};
use super::lanes::{Isa, Lanes, Word};
use super::variant::{ABSENT, CARD_INDEX, Constants, PLAY, TYPES, ones};
use crate::encode::Encoder;

/// Appends fields to the packed rows of eight games.
struct FieldWriter<'a, L> {
    words: &'a mut [Word],
    /// The number of full words.
    full: usize,
    /// The bits that do not fill a word yet.
    pending: L,
    /// The number of pending bits, below 64.
    width: usize,
}

impl<L: Lanes> FieldWriter<'_, L> {
    /// Appends the `width` low bits, at most 64; the higher bits are zero.
    #[inline(always)]
    fn push(&mut self, value: L, width: usize) {
        self.pending = self.pending | value.shl(self.width);
        let filled = self.width + width;
        if filled >= 64 {
            self.put(self.pending);
            self.pending = value.shr(1).shr(63 - self.width);
        }
        self.width = filled % 64;
    }

    /// Writes a word.
    ///
    /// # Panics
    /// If the row is full.
    #[inline(always)]
    fn put(&mut self, word: L) {
        word.store(&mut self.words[self.full]);
        self.full += 1;
    }

    /// Writes the pending bits.
    #[inline(always)]
    fn finish(mut self) {
        if self.width > 0 {
            self.put(self.pending);
        }
    }
}

impl<I: Isa, const VARIANT: usize> Block<'_, I, VARIANT> {
    /// Writes the observation of the seat at this offset from the acting player as packed
    /// rows, the first bit lowest.
    ///
    /// # Panics
    /// If there are fewer words than the observation fills.
    #[inline(always)]
    pub fn encode(&self, observer: usize, encoder: Encoder, words: &mut [Word]) {
        let bits = self.constants().observation_bits(encoder);
        // Exactly the words of a row. For the cards and hands of the base game their number is a
        // constant, so the compiler decides most of the checks of `put`.
        let words = &mut words[..bits.div_ceil(64)];
        let mut rows = FieldWriter { words, full: 0, pending: self.isa.zero(), width: 0 };
        self.encode_hands(observer, &mut rows);
        self.encode_board(&mut rows);
        rows.push(self.load(Field::Discards), self.constants().deck_size);
        let announced = self.encode_last_turn(observer, &mut rows);
        if encoder.shows_knowledge() {
            self.encode_knowledge(observer, encoder, &mut rows);
        }
        if self.constants().timed_display {
            rows.push(announced, self.constants().colors);
        }
        debug_assert_eq!(64 * rows.full + rows.width, bits);
        rows.finish();
    }

    /// The offset from the acting player of the hand at this offset from the observer.
    #[inline(always)]
    fn offset_seen(&self, observer: usize, offset: usize) -> usize {
        let (sum, players) = (observer + offset, self.constants().players);
        if sum >= players { sum - players } else { sum }
    }

    #[inline(always)]
    fn encode_hands(&self, observer: usize, rows: &mut FieldWriter<'_, I::Lanes>) {
        let last = self.constants().hand_size - 1;
        let absent = self.splat(ABSENT);
        let own = self.card(self.offset_seen(observer, 0), last);
        let mut short = self.bit(0).masked(own.equals(absent));
        for offset in 1..self.constants().players {
            let hand = self.offset_seen(observer, offset);
            for slot in 0..=last {
                let card = self.card(hand, slot);
                // The index of an absent card shifts the bit out.
                rows.push(self.bit(0).shl_each(card.shr(CARD_INDEX)), self.constants().cards());
            }
            let misses = self.card(hand, last).equals(absent);
            short = short | self.bit(offset).masked(misses);
        }
        rows.push(short, self.constants().players);
    }

    #[inline(always)]
    fn encode_board(&self, rows: &mut FieldWriter<'_, I::Lanes>) {
        let constants = self.constants();
        let counters = self.load(Field::Counters);
        rows.push(self.thermometer(counters, counter::DECK), constants.dealt_deck_size());
        let information = constants.max_information_tokens;
        let board = self.load(Field::Fireworks)
            | self.thermometer(counters, counter::INFORMATION).shl(constants.cards())
            | self.thermometer(counters, counter::LIVES).shl(constants.cards() + information);
        rows.push(board, constants.cards() + information + constants.max_life_tokens);
    }

    /// As many low bits as a counter counts.
    #[inline(always)]
    fn thermometer(&self, counters: I::Lanes, shift: usize) -> I::Lanes {
        self.bit(0).shl_each(self.bits(counters, shift, 8)) - self.bit(0)
    }

    /// Returns the colour that the last turn announced, as one bit.
    #[inline(always)]
    fn encode_last_turn(&self, observer: usize, rows: &mut FieldWriter<'_, I::Lanes>) -> I::Lanes {
        let (constants, players) = (self.constants(), self.constants().players);
        let event = self.load(Field::Event);
        let types = event & self.splat(ones(TYPES));
        // The player before the acting one, as an offset from the observer.
        let player = self.bit(players - 1 - observer);
        let player = player.masked(types.intersects(self.splat(ones(TYPES))));
        let mut targets = self.bits(event, TYPES, players);
        if observer > 0 {
            let around = targets.shl(players - observer) & self.splat(ones(players));
            targets = targets.shr(observer) | around;
        }
        let rest = 2 * constants.hand_size + constants.hinted();
        let mut rest_bits = self.bits(event, constants.event_hinted(), rest);
        let mut announced = self.isa.zero();
        if constants.timed_display {
            // A play keeps its announced colour there, and the mark that it regained two tokens.
            let played = types.intersects(self.splat(PLAY));
            announced = (rest_bits & self.splat(ones(constants.colors))).masked(played);
            let slots = self.splat(!ones(constants.hinted() + constants.hand_size));
            rest_bits = (rest_bits & slots).masked_or(played, rest_bits);
        }
        let head = player
            | types.shl(players)
            | targets.shl(players + TYPES)
            | rest_bits.shl(2 * players + TYPES);
        rows.push(head, 2 * players + TYPES + rest);
        rows.push(event.shr(Constants::EVENT_CARD), constants.cards() + 2);
        announced
    }

    #[inline(always)]
    fn encode_knowledge(
        &self,
        observer: usize,
        encoder: Encoder,
        rows: &mut FieldWriter<'_, I::Lanes>,
    ) {
        let constants = self.constants();
        let bits = self.splat(ones(constants.knowledge()));
        for offset in 0..constants.players {
            let hand = self.offset_seen(observer, offset);
            for slot in 0..constants.hand_size {
                let card = self.card(hand, slot);
                let known = if encoder.shows_own_hand() {
                    let hinted = self.bits(card, constants.knowledge(), constants.hinted());
                    self.bit(0).shl_each(card.shr(CARD_INDEX)) | hinted.shl(constants.cards())
                } else {
                    card & bits
                };
                rows.push(known, constants.knowledge());
            }
        }
    }
}
