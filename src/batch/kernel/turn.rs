//! One turn in eight games: [`crate::rules::Position::apply_unchecked`] without branches on the
//! games.

use super::Kernel;
use super::block::{COUNTERS, DECK, DISCARDS, EVENT, FIREWORKS, LEGAL, NEXT, RNG, counter};
use super::lanes::{Isa, LANES, Lanes, Mask, Word};
use super::plan::{ABSENT, CARD_INDEX, COLOR_HINT, DISCARD, PLAY, RANK_HINT, Sizes, TYPES, ones};
use crate::rules::{Ending, Named};

const BYTE: u64 = 0xff;

/// What a turn did to eight games.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turn {
    /// Changes of the scores, as signed numbers.
    pub reward: Word,
    /// The counters of the games that ended, else zero.
    pub last: Word,
    /// The games that ended, a bit each.
    pub ended: u8,
    /// The games that an illegal action ended.
    pub forfeited: u8,
    /// The games that were over before and did nothing.
    pub waiting: u8,
}

/// A card that left the hand of the player to act, and where it goes.
struct Taken<L: Lanes> {
    /// Where there is one.
    any: L::Mask,
    index: L,
    /// Its bit in the set of cards, or nothing.
    card: L,
    played: L::Mask,
    added: L::Mask,
    /// Where it completed its firework.
    completes: L::Mask,
    /// Where it was announced.
    announced: L::Mask,
    discarded: L::Mask,
}

impl<I: Isa, const STANDARD: usize> Kernel<'_, I, STANDARD> {
    /// Plays one turn. An action that is not legal ends its game as lost; a game that is over stays
    /// as it is.
    #[inline(always)]
    pub fn play(&self, block: &mut [Word], step: usize, actions: &Word) -> Turn {
        let counters = self.load(block, COUNTERS);
        let live = !counters.shares(self.splat(BYTE << counter::ENDING));
        let actions = self.isa.load(actions);
        let legal = self.find_legal(block, actions);
        let num_actions = self.sizes().num_actions();
        let action = self.isa.look_up(&self.plan.actions, num_actions, actions).keep(legal);
        let (taken, last) = self.take_card(block, step, action);
        self.put_card(block, &taken);
        let touched = self.hint(block, step, action);
        let (counted, regained) = self.count(counters, action, legal, live, &taken);
        self.draw(block, step, &taken, counted, last);
        self.note(block, action, touched, legal, &taken, regained);
        self.end(block, step, live, legal, &taken, [counters, counted])
    }

    /// The games that go on and whose action is illegal, a bit each.
    #[inline(always)]
    pub fn find_illegal(&self, block: &[Word], actions: &Word) -> u8 {
        let over = self.load(block, COUNTERS).shares(self.splat(BYTE << counter::ENDING));
        let legal = self.find_legal(block, self.isa.load(actions));
        (!(over | legal)).bits()
    }

    /// Where the games' actions are legal.
    #[inline(always)]
    fn find_legal(&self, block: &[Word], actions: I::Lanes) -> <I::Lanes as Lanes>::Mask {
        let mut legal = self.load(block, LEGAL[0]).shr_each(actions);
        if self.sizes().num_actions() > 64 {
            let rest = actions - self.splat(64);
            legal = legal | self.load(block, LEGAL[1]).shr_each(rest);
        }
        legal.shares(self.splat(1))
    }

    /// Takes the action's card out of its hand; the later ones move down. The last slot is left to
    /// [`Kernel::draw`]: returned is what it holds now, which is no card where one was taken.
    #[inline(always)]
    fn take_card(
        &self,
        block: &mut [Word],
        step: usize,
        action: I::Lanes,
    ) -> (Taken<I::Lanes>, I::Lanes) {
        let sizes = self.sizes();
        let hand = self.sizes().hand(step, 0);
        let mut any = action.shares(self.bit(sizes.slots()));
        let mut word = self.load(block, hand);
        let mut taken = word.keep(any);
        for slot in 1..self.sizes().hand_size {
            let next = self.load(block, hand + slot);
            self.store(block, hand + slot - 1, next.or_else(any, word));
            let here = action.shares(self.bit(sizes.slots() + slot));
            any = any | here;
            taken = taken | next.keep(here);
            word = next;
        }
        let last = self.splat(ABSENT).or_else(any, word);
        (self.judge(block, action, any, taken), last)
    }

    /// Whether the taken card fits.
    #[inline(always)]
    fn judge(
        &self,
        block: &[Word],
        action: I::Lanes,
        any: <I::Lanes as Lanes>::Mask,
        taken: I::Lanes,
    ) -> Taken<I::Lanes> {
        let sizes = self.sizes();
        let index = taken.shr(CARD_INDEX);
        let card = self.splat(1).keep(any).shl_each(index);
        let played = action.shares(self.splat(PLAY << sizes.knowledge()));
        let mut added = played & card.shares(self.load(block, NEXT));
        let mut announced = self.isa.nowhere();
        if sizes.timed_display {
            let colors = self.field(action, sizes.announced(), sizes.colors);
            announced = colors.shares(self.splat(ones(sizes.colors)));
            // Whether the announced colour is not the card's.
            let wrong = (colors.shl(sizes.knowledge()) & !taken).shares(self.splat(u64::MAX));
            added = added & !wrong;
        }
        let completes = card.keep(added).shares(self.splat(sizes.highest()));
        Taken { any, index, card, played, added, completes, announced, discarded: any & !added }
    }

    /// Adds the card to its firework or to the discard pile.
    #[inline(always)]
    fn put_card(&self, block: &mut [Word], taken: &Taken<I::Lanes>) {
        let sizes = self.sizes();
        let added = taken.card.keep(taken.added);
        let below = (added & self.splat(!sizes.lowest)).shr(1);
        let above = (added & self.splat(!sizes.highest())).shl(1);
        let fireworks = self.load(block, FIREWORKS);
        self.store(block, FIREWORKS, (fireworks & !below) | added);
        let next = self.load(block, NEXT);
        self.store(block, NEXT, (next & !added) | above);
        let copies = self.copies(taken).keep(taken.discarded);
        let lowest = copies & (self.isa.zero() - copies);
        let discards = self.load(block, DISCARDS);
        self.store(
            block,
            DISCARDS, // Within the card's own bits this is a thermometer's next mark.
            discards + (discards & copies) + lowest,
        );
    }

    /// The bits of the taken card's copies in a set of copies; any where no card was taken.
    #[inline(always)]
    fn copies(&self, taken: &Taken<I::Lanes>) -> I::Lanes {
        self.isa.look_up(&self.plan.copies, self.sizes().cards(), taken.index)
    }

    /// Tells the other hands about the hint and returns the slots that it points out.
    #[inline(always)]
    fn hint(&self, block: &mut [Word], step: usize, action: I::Lanes) -> I::Lanes {
        let sizes = self.sizes();
        let all = self.splat(sizes.all_cards());
        let named = action & all;
        let hinted = action & self.splat(ones(sizes.hinted()) << sizes.cards());
        let mut touched = self.isa.zero();
        for offset in 1..self.sizes().players {
            let (mut named, mut hinted) = (named, hinted);
            if self.sizes().players > 2 {
                let target = action.shares(self.splat(1 << (sizes.targets() + offset - 1)));
                (named, hinted) = (named.keep(target), hinted.keep(target));
            }
            // A card's suit and rank stand where the hint stands in its knowledge, further up.
            let matching = hinted.shl(sizes.hinted());
            let others = all & !named;
            let hand = self.sizes().hand(step, offset);
            for slot in 0..self.sizes().hand_size {
                let card = self.load(block, hand + slot);
                let matches = card.shares(matching);
                let ruled_out = others.or_else(matches, named);
                self.store(block, hand + slot, (card & !ruled_out) | hinted.keep(matches));
                touched = touched | self.bit(slot).keep(matches);
            }
        }
        touched
    }

    /// The counters as the turn leaves them, but for the ending, and where a token was regained,
    /// and where two.
    #[inline(always)]
    fn count(
        &self,
        mut counters: I::Lanes,
        action: I::Lanes,
        legal: <I::Lanes as Lanes>::Mask,
        live: <I::Lanes as Lanes>::Mask,
        taken: &Taken<I::Lanes>,
    ) -> (I::Lanes, [<I::Lanes as Lanes>::Mask; 2]) {
        let sizes = self.sizes();
        let had_cards = counters.shares(self.splat(BYTE << counter::DECK));
        let information = self.splat(BYTE << counter::INFORMATION);
        let full = self.splat((sizes.max_information_tokens as u64) << counter::INFORMATION);
        let token = self.bit(counter::INFORMATION);
        let hints = action.shares(self.splat((COLOR_HINT | RANK_HINT) << sizes.knowledge()));
        counters = counters - token.keep(hints);
        let has_room = !(counters & information).equals(full);
        let first = ((taken.any & !taken.played) | taken.completes) & has_room;
        counters = counters + token.keep(first);
        let mut second = self.isa.nowhere();
        if sizes.timed_display {
            let has_room = !(counters & information).equals(full);
            second = taken.announced & taken.added & has_room;
            counters = counters + token.keep(second);
        }
        counters = counters + self.bit(counter::SCORE).keep(taken.added)
            - self.bit(counter::LIVES).keep(taken.played & !taken.added)
            - self.bit(counter::DECK).keep(taken.any & had_cards)
            + self.bit(counter::LENGTH).keep(live);
        if !sizes.crowning_piece {
            counters = counters - self.bit(counter::TURNS).keep(legal & !had_cards);
        }
        counters = counters + self.bit(counter::PLAYER).keep(legal);
        let around = (counters & self.splat(BYTE << counter::PLAYER))
            .equals(self.splat((self.sizes().players as u64) << counter::PLAYER));
        counters = counters & !self.splat(BYTE << counter::PLAYER).keep(around);
        (counters, [first | second, first & second])
    }

    /// Draws a card into the hand's last slot where one was taken and the deck has any, and leaves
    /// the slot as it is elsewhere. A hand that draws was full.
    #[inline(always)]
    fn draw(
        &self,
        block: &mut [Word],
        step: usize,
        taken: &Taken<I::Lanes>,
        counters: I::Lanes,
        last: I::Lanes,
    ) {
        let deck = self.load(block, DECK);
        let draws = taken.any & deck.shares(self.splat(u64::MAX));
        // The deck's counter has the draw already.
        let left = counters.shr(counter::DECK) & self.splat(BYTE);
        let state = self.load(block, RNG);
        let number = self.random_below(state, left + self.splat(1));
        self.store(block, RNG, self.next_states(state).or_else(draws, state));
        let mut order = Word::default();
        number.keep(draws).store(&mut order);
        let mut copies = Word::default();
        for lane in 0..LANES {
            copies.0[lane] = self.isa.nth_set_bit(block[DECK].0[lane], order.0[lane]);
        }
        let copies = self.isa.load(&copies);
        self.store(block, DECK, deck & !copies.keep(draws));
        let copies = self.isa.index_of_bit(copies);
        let cards = self.isa.look_up(&self.plan.drawn, self.sizes().deck_size, copies);
        let slot = self.sizes().hand(step, 0) + self.sizes().hand_size - 1;
        self.store(block, slot, cards.or_else(draws, last));
    }

    /// Writes the last turn as the observation has it.
    #[inline(always)]
    fn note(
        &self,
        block: &mut [Word],
        action: I::Lanes,
        touched: I::Lanes,
        legal: <I::Lanes as Lanes>::Mask,
        taken: &Taken<I::Lanes>,
        [regained, twice]: [<I::Lanes as Lanes>::Mask; 2],
    ) {
        let sizes = self.sizes();
        let slots = self.field(action, sizes.slots(), self.sizes().hand_size);
        let mut event = self.field(action, sizes.knowledge(), TYPES + self.sizes().players)
            | self.field(action, sizes.cards(), sizes.hinted()).shl(sizes.event_hinted())
            | slots.shl(sizes.event_slot())
            | touched.shl(sizes.event_touched())
            | taken.card.shl(Sizes::EVENT_CARD)
            | self.bit(sizes.event_added()).keep(taken.added)
            | self.bit(sizes.event_added() + 1).keep(regained & taken.played);
        if sizes.timed_display {
            event = event
                | self.field(action, sizes.announced(), sizes.colors).shl(sizes.event_hinted())
                | self.bit(sizes.event_touched()).keep(twice);
        }
        self.store(block, EVENT, event.or_else(legal, self.load(block, EVENT)));
    }

    /// Finds the endings and the rewards, from the counters before the turn and after it.
    #[inline(always)]
    fn end(
        &self,
        block: &mut [Word],
        step: usize,
        live: <I::Lanes as Lanes>::Mask,
        legal: <I::Lanes as Lanes>::Mask,
        taken: &Taken<I::Lanes>,
        [before, counters]: [I::Lanes; 2],
    ) -> Turn {
        let sizes = self.sizes();
        let lives = self.splat(BYTE << counter::LIVES);
        let forfeited = live & !legal;
        let counters = counters & !lives.keep(forfeited);
        let lost = !counters.shares(lives);
        let score = counters & self.splat(BYTE << counter::SCORE);
        let perfect = score.equals(self.splat((sizes.cards() as u64) << counter::SCORE));
        let rest = if sizes.crowning_piece {
            let gone = self.has_lost_indispensable_card(block, taken);
            let stuck = self.is_stuck(block, step, counters);
            let stuck = self.ending(Ending::NoLegalAction).keep(stuck);
            self.ending(Ending::IndispensableCardLost).or_else(gone, stuck)
        } else {
            let turns = counters.shares(self.splat(BYTE << counter::TURNS));
            self.ending(Ending::DeckExhausted).keep(!turns)
        };
        let ending = self
            .ending(Ending::Lost)
            .or_else(lost, self.ending(Ending::Perfect).or_else(perfect, rest));
        let counters = counters | ending.keep(live);
        self.store(block, COUNTERS, counters);
        let ended = live & ending.shares(self.splat(BYTE << counter::ENDING));
        // A defeat takes back what was earned before.
        let mut reward = self.bit(0).keep(taken.added);
        if sizes.forfeits {
            let defeat = live & ending.shares(self.bit(counter::ENDING));
            let earned = before.shr(counter::SCORE) & self.splat(BYTE);
            reward = (self.isa.zero() - earned).or_else(defeat, reward);
        }
        let mut turn = Turn {
            ended: ended.bits(),
            forfeited: forfeited.bits(),
            waiting: (!live).bits(),
            ..Turn::default()
        };
        reward.store(&mut turn.reward);
        counters.keep(ended).store(&mut turn.last);
        turn
    }

    #[inline(always)]
    fn ending(&self, ending: Ending) -> I::Lanes {
        self.splat((ending.code() as u64) << counter::ENDING)
    }

    /// Crowning piece: whether the discarded card was the last copy of one that its firework still
    /// needs. No earlier one was, or the game would be over.
    #[inline(always)]
    fn has_lost_indispensable_card(
        &self,
        block: &[Word],
        taken: &Taken<I::Lanes>,
    ) -> <I::Lanes as Lanes>::Mask {
        let sizes = self.sizes();
        let incomplete = self.splat(sizes.highest()) & !self.load(block, FIREWORKS);
        // From each incomplete firework's next card to its highest.
        let needed = incomplete.shl(1) - self.load(block, NEXT);
        let copies = self.copies(taken).keep(taken.discarded);
        let left = copies & !self.load(block, DISCARDS);
        taken.discarded & taken.card.shares(needed) & !left.shares(self.splat(u64::MAX))
    }

    /// Crowning piece: whether the next player has neither a card nor anything to hint.
    #[inline(always)]
    fn is_stuck(
        &self,
        block: &[Word],
        step: usize,
        counters: I::Lanes,
    ) -> <I::Lanes as Lanes>::Mask {
        let mut alone = self.is_empty(block, step, 0);
        for offset in 2..self.sizes().players {
            alone = alone & self.is_empty(block, step, offset);
        }
        let tokens = counters.shares(self.splat(BYTE << counter::INFORMATION));
        self.is_empty(block, step, 1) & (alone | !tokens)
    }

    /// Whether a hand has no card.
    #[inline(always)]
    fn is_empty(&self, block: &[Word], step: usize, offset: usize) -> <I::Lanes as Lanes>::Mask {
        self.load(block, self.sizes().hand(step, offset)).equals(self.splat(ABSENT))
    }
}

/// The lanes of a set, the lowest first.
pub fn lanes_of(bits: u8) -> impl Iterator<Item = usize> {
    bits_of(bits.into())
}

/// The bits that are set, the lowest first.
pub fn bits_of(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let index = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (index < 64).then_some(index)
    })
}

const _: () = {
    // The lowest bit of an ending's code says defeat.
    let mut index = 0;
    while index < Ending::ALL.len() {
        let ending = Ending::ALL[index];
        assert!(ending.is_defeat() == (ending.code() & 1 == 1));
        index += 1;
    }
    assert!(DISCARD == PLAY << 1);
};
