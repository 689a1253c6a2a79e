//! The legal actions and the canonical observation of eight games:
//! [`crate::rules::Position::legal_actions`] and [`crate::encode::CANONICAL`].

use super::Kernel;
use super::block::{COUNTERS, DISCARDS, EVENT, FIREWORKS, LEGAL, counter};
use super::lanes::{Isa, Lanes, Word};
use super::plan::{ABSENT, CARD_INDEX, PLAY, Sizes, TYPES, ones};
use crate::encode::CanonicalKnowledge;

const BYTE: u64 = 0xff;

/// Appends fields to rows of words, eight at a time.
struct Rows<'a, L> {
    words: &'a mut [Word],
    /// Words that are full.
    full: usize,
    /// The last of them.
    last: L,
    /// Bits that do not fill a word yet, and their number, below 64.
    pending: L,
    width: usize,
    heads: Option<Heads<L>>,
}

/// How many bits the heads of aligned rows have.
#[derive(Clone, Copy)]
pub struct Heads<L> {
    bits: L,
    /// How many they lack to a word.
    lacking: L,
}

impl<L: Lanes> Rows<'_, L> {
    /// Appends the `width` low bits, of at most 64; the higher ones are zero.
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

    #[inline(always)]
    fn put(&mut self, word: L) {
        let (index, value) = match self.heads {
            None => (self.full + 1, word),
            Some(_) if self.full == 0 => (0, word),
            Some(Heads { bits, lacking }) => {
                (self.full, self.last.shr_each(bits) | word.shl_each(lacking))
            }
        };
        debug_assert!(index < self.words.len());
        // SAFETY: there is a word more than the layout has, which `BatchConfig::new` has compared with
        // that of the canonical encoder, whose fields these are.
        value.store(unsafe { self.words.get_unchecked_mut(index) });
        self.last = word;
        self.full += 1;
    }

    /// Writes the last bits.
    #[inline(always)]
    fn finish(mut self) {
        if self.width > 0 {
            self.put(self.pending);
        }
        if let Some(heads) = self.heads {
            self.last.shr_each(heads.bits).store(&mut self.words[self.full]);
        }
    }
}

impl<I: Isa, const STANDARD: usize> Kernel<'_, I, STANDARD> {
    /// Heads of so many bits, below 64.
    #[inline(always)]
    pub fn heads(&self, bits: &Word) -> Heads<I::Lanes> {
        let bits = self.isa.load(bits);
        Heads { bits, lacking: self.splat(64) - bits }
    }

    /// Finds the legal actions.
    #[inline(always)]
    pub fn find_actions(&self, block: &mut [Word], step: usize) {
        let (sizes, hand_size) = (self.sizes(), self.sizes().hand_size);
        let counters = self.load(block, COUNTERS);
        let live = !counters.shares(self.splat(BYTE << counter::ENDING));
        let information = counters & self.splat(BYTE << counter::INFORMATION);
        let full = information.equals(self.splat(sizes.max_information_tokens as u64));
        let tokens = information.shares(self.splat(BYTE));
        let cards = self.splat(ones(sizes.hinted()) << sizes.knowledge());
        let mut slots = self.isa.zero();
        for slot in 0..hand_size {
            let held = self.load(block, self.sizes().hand(step, 0) + slot).shares(cards);
            slots = slots | self.bit(slot).keep(held);
        }
        let hints = self.find_hints(block, step).keep(tokens);
        let legal = slots.keep(!full) | slots.shl(hand_size) | hints;
        let mut legal = [legal, self.isa.zero()];
        if sizes.timed_display {
            self.add_announced_plays(slots, &mut legal);
        }
        self.store(block, LEGAL[0], legal[0].keep(live));
        if sizes.num_actions() > 64 {
            self.store(block, LEGAL[1], legal[1].keep(live));
        }
    }

    /// The hints that point out a card, or with empty hints those to a hand with cards.
    #[inline(always)]
    fn find_hints(&self, block: &[Word], step: usize) -> I::Lanes {
        let (sizes, players) = (self.sizes(), self.sizes().players);
        let (mut hints, all) = (self.isa.zero(), self.splat(ones(sizes.hinted())));
        let colors = 2 * self.sizes().hand_size;
        let ranks = colors + (players - 1) * sizes.colors;
        for offset in 1..players {
            let hand = self.sizes().hand(step, offset);
            let mut held = self.load(block, hand);
            for slot in 1..self.sizes().hand_size {
                held = held | self.load(block, hand + slot);
            }
            let mut matching = self.field(held, sizes.knowledge(), sizes.hinted());
            if sizes.empty_hints {
                matching = all.keep(matching.shares(all));
            }
            let (color, rank) =
                (matching & self.splat(ones(sizes.colors)), matching.shr(sizes.colors));
            let other = offset - 1;
            hints = hints
                | color.shl(colors + other * sizes.colors)
                | rank.shl(ranks + other * sizes.ranks);
        }
        hints
    }

    #[inline(always)]
    fn add_announced_plays(&self, slots: I::Lanes, legal: &mut [I::Lanes; 2]) {
        let sizes = self.sizes();
        for slot in 0..self.sizes().hand_size {
            let held = slots.shares(self.bit(slot));
            let first = sizes.announced_play_base() + slot * sizes.colors;
            let actions = u128::from(ones(sizes.colors)) << first;
            legal[0] = legal[0] | self.splat(actions as u64).keep(held);
            legal[1] = legal[1] | self.splat((actions >> 64) as u64).keep(held);
        }
    }

    /// Writes the canonical observation of the seat at this offset from the player to act into
    /// rows of words, the first bit lowest: as [`crate::batch::rows::packed::Row`] reads them, or with heads of
    /// so many bits as [`crate::batch::rows::packed::AlignedRow`] does.
    #[inline(always)]
    pub fn encode(
        &self,
        block: &[Word],
        step: usize,
        observer: usize,
        knowledge: CanonicalKnowledge,
        heads: Option<Heads<I::Lanes>>,
        words: &mut [Word],
    ) {
        let (last, pending) = (self.isa.zero(), self.isa.zero());
        let mut rows = Rows { words, full: 0, last, pending, width: 0, heads };
        self.encode_hands(block, step, observer, &mut rows);
        self.encode_board(block, &mut rows);
        rows.push(self.load(block, DISCARDS), self.sizes().deck_size);
        let announced = self.encode_last_turn(block, observer, &mut rows);
        if knowledge != CanonicalKnowledge::Omitted {
            self.encode_knowledge(block, step, observer, knowledge, &mut rows);
        }
        if self.sizes().timed_display {
            rows.push(announced, self.sizes().colors);
        }
        rows.finish();
    }

    /// Where the hand at this offset from the observer begins.
    #[inline(always)]
    fn hand_seen(&self, step: usize, observer: usize, offset: usize) -> usize {
        let sum = observer + offset;
        let players = self.sizes().players;
        self.sizes().hand(step, if sum >= players { sum - players } else { sum })
    }

    #[inline(always)]
    fn encode_hands(
        &self,
        block: &[Word],
        step: usize,
        observer: usize,
        rows: &mut Rows<'_, I::Lanes>,
    ) {
        let last = self.sizes().hand_size - 1;
        let absent = self.splat(ABSENT);
        let own = self.load(block, self.hand_seen(step, observer, 0) + last);
        let mut short = self.bit(0).keep(own.equals(absent));
        for offset in 1..self.sizes().players {
            let hand = self.hand_seen(step, observer, offset);
            for slot in 0..=last {
                let card = self.load(block, hand + slot);
                // Of an absent card the index shifts the bit out.
                rows.push(self.bit(0).shl_each(card.shr(CARD_INDEX)), self.sizes().cards());
            }
            let misses = self.load(block, hand + last).equals(absent);
            short = short | self.bit(offset).keep(misses);
        }
        rows.push(short, self.sizes().players);
    }

    #[inline(always)]
    fn encode_board(&self, block: &[Word], rows: &mut Rows<'_, I::Lanes>) {
        let sizes = self.sizes();
        let counters = self.load(block, COUNTERS);
        rows.push(self.thermometer(counters, counter::DECK), sizes.dealt_deck_size());
        let information = sizes.max_information_tokens;
        let board = self.load(block, FIREWORKS)
            | self.thermometer(counters, counter::INFORMATION).shl(sizes.cards())
            | self.thermometer(counters, counter::LIVES).shl(sizes.cards() + information);
        rows.push(board, sizes.cards() + information + sizes.max_life_tokens);
    }

    /// As many bits as a counter says.
    #[inline(always)]
    fn thermometer(&self, counters: I::Lanes, shift: usize) -> I::Lanes {
        self.bit(0).shl_each(self.field(counters, shift, 8)) - self.bit(0)
    }

    /// Returns the colour that the last turn announced.
    #[inline(always)]
    fn encode_last_turn(
        &self,
        block: &[Word],
        observer: usize,
        rows: &mut Rows<'_, I::Lanes>,
    ) -> I::Lanes {
        let (sizes, players) = (self.sizes(), self.sizes().players);
        let event = self.load(block, EVENT);
        let types = event & self.splat(ones(TYPES));
        // The player before the one to act, as the observer counts.
        let player = self.bit(players - 1 - observer);
        let player = player.keep(types.shares(self.splat(ones(TYPES))));
        let mut targets = self.field(event, TYPES, players);
        if observer > 0 {
            let around = targets.shl(players - observer) & self.splat(ones(players));
            targets = targets.shr(observer) | around;
        }
        let rest = 2 * self.sizes().hand_size + sizes.hinted();
        let mut rest_bits = self.field(event, sizes.event_hinted(), rest);
        let mut announced = self.isa.zero();
        if sizes.timed_display {
            // A play has its announced colour there, and a mark that two tokens were regained.
            let played = types.shares(self.splat(PLAY));
            announced = (rest_bits & self.splat(ones(sizes.colors))).keep(played);
            let slots = self.splat(!ones(sizes.hinted() + self.sizes().hand_size));
            rest_bits = (rest_bits & slots).or_else(played, rest_bits);
        }
        let head = player
            | types.shl(players)
            | targets.shl(players + TYPES)
            | rest_bits.shl(2 * players + TYPES);
        rows.push(head, 2 * players + TYPES + rest);
        rows.push(event.shr(Sizes::EVENT_CARD), sizes.cards() + 2);
        announced
    }

    #[inline(always)]
    fn encode_knowledge(
        &self,
        block: &[Word],
        step: usize,
        observer: usize,
        knowledge: CanonicalKnowledge,
        rows: &mut Rows<'_, I::Lanes>,
    ) {
        let sizes = self.sizes();
        let bits = self.splat(ones(sizes.knowledge()));
        for offset in 0..self.sizes().players {
            let hand = self.hand_seen(step, observer, offset);
            for slot in 0..self.sizes().hand_size {
                let card = self.load(block, hand + slot);
                let known = if knowledge == CanonicalKnowledge::Full {
                    let hinted = self.field(card, sizes.knowledge(), sizes.hinted());
                    self.bit(0).shl_each(card.shr(CARD_INDEX)) | hinted.shl(sizes.cards())
                } else {
                    card & bits
                };
                rows.push(known, sizes.knowledge());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::batch::kernel::ANY;
    use crate::batch::kernel::block::idle_block;
    use crate::batch::kernel::lanes::{LANES, Portable};
    use crate::batch::kernel::plan::Plan;
    use crate::batch::rows::expand::Bits;
    use crate::batch::rows::packed::{AlignedRow, PackedRows};
    use crate::encode::{CANONICAL, Encoder};
    use crate::rules::{EpisodeSeed, GameRng, Parameters, Variant};

    #[test]
    fn aligned_rows_are_the_same_rows() {
        // 658 bits, whose last word is not full, and 1,280, whose last word is.
        for players in [2, 5] {
            let parameters = Parameters { players, ..Parameters::default() };
            let variant = Arc::new(Variant::new(parameters).unwrap());
            let plan = Plan::new(&variant);
            let kernel = Kernel::<_, ANY> { isa: Portable, plan: &plan };
            let mut block = vec![Word::default(); plan.sizes.block_words()];
            idle_block(&mut block);
            for lane in 0..LANES {
                let seed = EpisodeSeed { seed: 1, game: lane as u64, episode: 0 };
                kernel.deal(&mut block, lane, 0, GameRng::new(seed).state());
            }
            let layout = CANONICAL.layout(&variant);
            let [mut plain, mut aligned] = [(); 2].map(|()| PackedRows::new(&layout, 1));
            let usual = CanonicalKnowledge::Hinted;
            kernel.encode(&block, 0, 0, usual, None, plain.words_mut(0));
            for first in (0..64).step_by(LANES) {
                let heads = Word(std::array::from_fn(|lane| (first + lane) as u64));
                let shifted = Some(kernel.heads(&heads));
                kernel.encode(&block, 0, 0, usual, shifted, aligned.words_mut(0));
                for lane in 0..LANES {
                    let (plain, aligned) = (plain.row(0, lane), AlignedRow(aligned.row(0, lane)));
                    let head = first + lane;
                    // SAFETY: the rows have a word for each 64 bits of the layout.
                    unsafe {
                        assert_eq!(aligned.word(0), plain.word(0), "a head of {head} bits");
                        for index in 0..layout.words() {
                            let left = (layout.len() - 64 * index).saturating_sub(head);
                            // Past the end both give any bits.
                            let past = 64 - left.min(64) as u32;
                            let [found, expected] =
                                [aligned.word_after(head, index), plain.word_after(head, index)]
                                    .map(|word| word.checked_shl(past));
                            assert_eq!(found, expected, "a head of {head} bits");
                        }
                    }
                }
            }
        }
    }
}
