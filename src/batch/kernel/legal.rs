//! The legal actions of eight games: [`crate::rules::Position::legal_actions`].

use super::Kernel;
use super::block::{Block, Field, counter};
use super::lanes::{Isa, Lanes, Mask, Word};
use super::variant::ones;

const BYTE: u64 = 0xff;

impl<I: Isa, const VARIANT: usize> Block<'_, I, VARIANT> {
    /// Finds the legal actions and writes them into the block; a game that is over has none.
    #[inline(always)]
    pub fn find_actions(&mut self) {
        let (constants, hand_size) = (self.constants(), self.constants().hand_size);
        let counters = self.load(Field::Counters);
        let live = !counters.intersects(self.splat(BYTE << counter::ENDING));
        let information = counters & self.splat(BYTE << counter::INFORMATION);
        let full = information.equals(self.splat(constants.max_information_tokens as u64));
        let tokens = information.intersects(self.splat(BYTE));
        let cards = self.splat(ones(constants.hinted()) << constants.knowledge());
        let mut slots = self.isa.zero();
        for slot in 0..hand_size {
            let held = self.card(0, slot).intersects(cards);
            slots = slots | self.bit(slot).masked(held);
        }
        let hints = self.find_hints().masked(tokens);
        let legal = slots.masked(!full) | slots.shl(hand_size) | hints;
        let mut legal = [legal, self.isa.zero()];
        if constants.timed_display {
            self.add_announced_plays(slots, &mut legal);
        }
        self.store(Field::LowActions, legal[0].masked(live));
        if constants.num_actions() > 64 {
            self.store(Field::HighActions, legal[1].masked(live));
        }
    }

    /// The hints that touch a card; with empty hints, all hints to a hand that has cards.
    #[inline(always)]
    fn find_hints(&self) -> I::Lanes {
        let (constants, players) = (self.constants(), self.constants().players);
        let (mut hints, all) = (self.isa.zero(), self.splat(ones(constants.hinted())));
        let colors = 2 * constants.hand_size;
        let ranks = colors + (players - 1) * constants.colors;
        for offset in 1..players {
            let mut held = self.card(offset, 0);
            for slot in 1..constants.hand_size {
                held = held | self.card(offset, slot);
            }
            let mut matching = self.bits(held, constants.knowledge(), constants.hinted());
            if constants.empty_hints {
                matching = all.masked(matching.intersects(all));
            }
            let (color, rank) =
                (matching & self.splat(ones(constants.colors)), matching.shr(constants.colors));
            let other = offset - 1;
            hints = hints
                | color.shl(colors + other * constants.colors)
                | rank.shl(ranks + other * constants.ranks);
        }
        hints
    }

    /// Adds the announced plays of the slots that hold a card.
    #[inline(always)]
    fn add_announced_plays(&self, slots: I::Lanes, legal: &mut [I::Lanes; 2]) {
        let constants = self.constants();
        for slot in 0..constants.hand_size {
            let held = slots.intersects(self.bit(slot));
            let first = constants.announced_play_base() + slot * constants.colors;
            let actions = u128::from(ones(constants.colors)) << first;
            legal[0] = legal[0] | self.splat(actions as u64).masked(held);
            legal[1] = legal[1] | self.splat((actions >> 64) as u64).masked(held);
        }
    }
}

impl<I: Isa, const VARIANT: usize> Kernel<'_, I, VARIANT> {
    /// Whether each action is among a game's legal actions, which two fields of a block hold.
    #[inline(always)]
    pub fn are_legal(
        &self,
        low_actions: &Word,
        high_actions: &Word,
        actions: I::Lanes,
    ) -> <I::Lanes as Lanes>::Mask {
        let mut legal = self.isa.load(low_actions).shr_each(actions);
        if self.constants().num_actions() > 64 {
            let rest = actions - self.splat(64);
            legal = legal | self.isa.load(high_actions).shr_each(rest);
        }
        legal.intersects(self.splat(1))
    }

    /// The games of a block that are not over and whose action is illegal, one bit each.
    #[inline(always)]
    pub fn find_illegal(&self, words: &[Word], actions: &Word) -> u8 {
        let [counters, low_actions, high_actions] =
            [Field::Counters, Field::LowActions, Field::HighActions]
                .map(|field| &words[field as usize]);
        let over = self.isa.load(counters).intersects(self.splat(BYTE << counter::ENDING));
        let legal = self.are_legal(low_actions, high_actions, self.isa.load(actions));
        (!(over | legal)).bits()
    }
}
