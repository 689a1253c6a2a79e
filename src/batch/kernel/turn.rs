//! One turn in eight games: [`crate::rules::Position::apply_unchecked`], without a branch that
//! depends on a game.

use super::block::{Block, Field, counter};
use super::draw_order::DrawOrder;
use super::lanes::{Isa, LANES, Lanes, Mask, Word};
use super::pcg32::{next_states, random_below};
use super::variant::{
    ABSENT, CARD_INDEX, COLOR_HINT, Constants, DISCARD, PLAY, RANK_HINT, TYPES, ones,
};
use crate::rules::Ending;

const BYTE: u64 = 0xff;

/// The results of a turn in eight games.
#[derive(Clone, Copy, Debug, Default)]
pub struct TurnResult {
    /// The changes of the scores, as signed numbers.
    pub reward: Word,
    /// The counters of the games that ended, as they were before a new deal; zero in the others.
    pub last: Word,
    /// The games that ended, one bit each.
    pub ended: u8,
    /// The games that ended by an illegal action, one bit each.
    pub forfeited: u8,
    /// The games that were over before the turn, one bit each.
    pub waiting: u8,
}

/// The card that leaves the acting player's hand, and what becomes of it.
struct TakenCard<L: Lanes> {
    /// Whether there is one: the action is a play or a discard.
    any: L::Mask,
    /// Its index.
    index: L,
    /// Its bit in a set of cards; zero if there is none.
    card: L,
    /// Whether it is played.
    played: L::Mask,
    /// Whether it is added to its firework.
    added: L::Mask,
    /// Whether it completes its firework.
    completes: L::Mask,
    /// Whether its colour is announced.
    announced: L::Mask,
    /// Whether it comes onto the discard pile, by a discard or a misplay.
    discarded: L::Mask,
}

impl<I: Isa, const VARIANT: usize> Block<'_, I, VARIANT> {
    /// Plays one turn. An illegal action ends its game as lost; a game that is over does not
    /// change. `orders` are the given decks of the games; empty if no game has one.
    #[inline(always)]
    pub fn play(&mut self, actions: &Word, orders: &[Option<DrawOrder>]) -> TurnResult {
        let counters = self.load(Field::Counters);
        let live = !counters.intersects(self.splat(BYTE << counter::ENDING));
        let actions = self.isa.load(actions);
        let [low_actions, high_actions] = [Field::LowActions, Field::HighActions];
        let legal = self.are_legal(self.word(low_actions), self.word(high_actions), actions);
        let num_actions = self.constants().num_actions();
        let action = self.isa.look_up(&self.variant.actions, num_actions, actions).masked(legal);
        let (taken, last) = self.take_card(action);
        self.put_card(&taken);
        let touched = self.hint(action);
        let (counted, regained) = self.count(counters, action, legal, live, &taken);
        self.draw(&taken, counted, last, orders);
        self.note(action, touched, legal, &taken, regained);
        self.find_endings(live, legal, &taken, [counters, counted])
    }

    /// Takes the action's card out of the acting player's hand; the newer cards move down. [`Block::draw`]
    /// fills the last slot. Returns the card that the last slot has until then: none if a card was taken.
    #[inline(always)]
    fn take_card(&mut self, action: I::Lanes) -> (TakenCard<I::Lanes>, I::Lanes) {
        let constants = self.constants();
        let mut any = action.intersects(self.bit(constants.slots()));
        let mut word = self.card(0, 0);
        let mut taken = word.masked(any);
        for slot in 1..constants.hand_size {
            let next = self.card(0, slot);
            self.store_card(0, slot - 1, next.masked_or(any, word));
            let here = action.intersects(self.bit(constants.slots() + slot));
            any = any | here;
            taken = taken | next.masked(here);
            word = next;
        }
        let last = self.splat(ABSENT).masked_or(any, word);
        (self.judge(action, any, taken), last)
    }

    /// Finds what becomes of the taken card.
    #[inline(always)]
    fn judge(
        &self,
        action: I::Lanes,
        any: <I::Lanes as Lanes>::Mask,
        taken: I::Lanes,
    ) -> TakenCard<I::Lanes> {
        let constants = self.constants();
        let index = taken.shr(CARD_INDEX);
        let card = self.splat(1).masked(any).shl_each(index);
        let played = action.intersects(self.splat(PLAY << constants.knowledge()));
        let mut added = played & card.intersects(self.load(Field::Next));
        let mut announced = self.isa.empty_mask();
        if constants.timed_display {
            let colors = self.bits(action, constants.announced(), constants.colors);
            announced = colors.intersects(self.splat(ones(constants.colors)));
            let wrong =
                (colors.shl(constants.knowledge()) & !taken).intersects(self.splat(u64::MAX));
            added = added & !wrong;
        }
        let completes = card.masked(added).intersects(self.splat(constants.highest()));
        TakenCard { any, index, card, played, added, completes, announced, discarded: any & !added }
    }

    /// Adds the card to its firework or to the discard pile.
    #[inline(always)]
    fn put_card(&mut self, taken: &TakenCard<I::Lanes>) {
        let constants = self.constants();
        let added = taken.card.masked(taken.added);
        let below = (added & self.splat(!constants.lowest)).shr(1);
        let above = (added & self.splat(!constants.highest())).shl(1);
        let fireworks = self.load(Field::Fireworks);
        self.store(Field::Fireworks, (fireworks & !below) | added);
        let next = self.load(Field::Next);
        self.store(Field::Next, (next & !added) | above);
        let copies = self.copies(taken).masked(taken.discarded);
        let lowest = copies & (self.isa.zero() - copies);
        let discards = self.load(Field::Discards);
        // Among the card's own bits this sets the lowest one that is zero.
        self.store(Field::Discards, discards + (discards & copies) + lowest);
    }

    /// The bits of the taken card's copies in a set of copies; any bits if no card was taken.
    #[inline(always)]
    fn copies(&self, taken: &TakenCard<I::Lanes>) -> I::Lanes {
        self.isa.look_up(&self.variant.copies, self.constants().cards(), taken.index)
    }

    /// Adds the hint to the knowledge of the hinted hand, and returns the slots that it touches.
    #[inline(always)]
    fn hint(&mut self, action: I::Lanes) -> I::Lanes {
        let constants = self.constants();
        let all = self.splat(constants.all_cards());
        let named = action & all;
        let hinted = action & self.splat(ones(constants.hinted()) << constants.cards());
        let mut touched = self.isa.zero();
        for offset in 1..self.constants().players {
            let (mut named, mut hinted) = (named, hinted);
            if self.constants().players > 2 {
                let target = action.intersects(self.splat(1 << (constants.targets() + offset - 1)));
                (named, hinted) = (named.masked(target), hinted.masked(target));
            }
            // A card's own suit and rank stand in the order of the hinted ones, further up.
            let matching = hinted.shl(constants.hinted());
            let others = all & !named;
            for slot in 0..self.constants().hand_size {
                let card = self.card(offset, slot);
                let matches = card.intersects(matching);
                let ruled_out = others.masked_or(matches, named);
                self.store_card(offset, slot, (card & !ruled_out) | hinted.masked(matches));
                touched = touched | self.bit(slot).masked(matches);
            }
        }
        touched
    }

    /// The counters after the turn, except for the ending; and whether a token was regained, and
    /// whether two were.
    #[inline(always)]
    fn count(
        &self,
        mut counters: I::Lanes,
        action: I::Lanes,
        legal: <I::Lanes as Lanes>::Mask,
        live: <I::Lanes as Lanes>::Mask,
        taken: &TakenCard<I::Lanes>,
    ) -> (I::Lanes, [<I::Lanes as Lanes>::Mask; 2]) {
        let constants = self.constants();
        let had_cards = counters.intersects(self.splat(BYTE << counter::DECK));
        let information = self.splat(BYTE << counter::INFORMATION);
        let full = self.splat((constants.max_information_tokens as u64) << counter::INFORMATION);
        let token = self.bit(counter::INFORMATION);
        let hints =
            action.intersects(self.splat((COLOR_HINT | RANK_HINT) << constants.knowledge()));
        counters = counters - token.masked(hints);
        let may_regain = !(counters & information).equals(full);
        let first = ((taken.any & !taken.played) | taken.completes) & may_regain;
        counters = counters + token.masked(first);
        let mut second = self.isa.empty_mask();
        if constants.timed_display {
            let may_regain = !(counters & information).equals(full);
            second = taken.announced & taken.added & may_regain;
            counters = counters + token.masked(second);
        }
        counters = counters + self.bit(counter::SCORE).masked(taken.added)
            - self.bit(counter::LIVES).masked(taken.played & !taken.added)
            - self.bit(counter::DECK).masked(taken.any & had_cards)
            + self.bit(counter::LENGTH).masked(live);
        if !constants.crowning_piece {
            counters = counters - self.bit(counter::TURNS).masked(legal & !had_cards);
        }
        counters = counters + self.bit(counter::PLAYER).masked(legal);
        let around = (counters & self.splat(BYTE << counter::PLAYER))
            .equals(self.splat((self.constants().players as u64) << counter::PLAYER));
        counters = counters & !self.splat(BYTE << counter::PLAYER).masked(around);
        (counters, [first | second, first & second])
    }

    /// Fills the last slot of the acting player's hand: with a card from the deck if one was taken
    /// and the deck has any, else with `last`. A hand that draws was full before.
    #[inline(always)]
    fn draw(
        &mut self,
        taken: &TakenCard<I::Lanes>,
        counters: I::Lanes,
        last: I::Lanes,
        orders: &[Option<DrawOrder>],
    ) {
        let deck = self.load(Field::Deck);
        let draws = taken.any & deck.intersects(self.splat(u64::MAX));
        // The counter has been lowered by the draw already.
        let left = counters.shr(counter::DECK) & self.splat(BYTE);
        let state = self.load(Field::Rng);
        let number = random_below(self.isa, state, left + self.splat(1));
        self.store(Field::Rng, next_states(self.isa, state).masked_or(draws, state));
        let mut order = Word::default();
        number.masked(draws).store(&mut order);
        if !orders.is_empty() {
            // The counters in memory are those before the turn.
            DrawOrder::override_draws(orders, self.word(Field::Counters), &mut order);
        }
        let mut copies = Word::default();
        for lane in 0..LANES {
            copies.0[lane] = self.isa.nth_set_bit(self.word(Field::Deck).0[lane], order.0[lane]);
        }
        let copies = self.isa.load(&copies);
        self.store(Field::Deck, deck & !copies.masked(draws));
        let copies = self.isa.index_of_bit(copies);
        let cards = self.isa.look_up(&self.variant.drawn, self.constants().deck_size, copies);
        self.store_card(0, self.constants().hand_size - 1, cards.masked_or(draws, last));
    }

    /// Writes the last turn, in the order of the observation.
    #[inline(always)]
    fn note(
        &mut self,
        action: I::Lanes,
        touched: I::Lanes,
        legal: <I::Lanes as Lanes>::Mask,
        taken: &TakenCard<I::Lanes>,
        [regained, twice]: [<I::Lanes as Lanes>::Mask; 2],
    ) {
        let constants = self.constants();
        let slots = self.bits(action, constants.slots(), self.constants().hand_size);
        let mut event = self.bits(action, constants.knowledge(), TYPES + self.constants().players)
            | self
                .bits(action, constants.cards(), constants.hinted())
                .shl(constants.event_hinted())
            | slots.shl(constants.event_slot())
            | touched.shl(constants.event_touched())
            | taken.card.shl(Constants::EVENT_CARD)
            | self.bit(constants.event_added()).masked(taken.added)
            | self.bit(constants.event_added() + 1).masked(regained & taken.played);
        if constants.timed_display {
            event = event
                | self
                    .bits(action, constants.announced(), constants.colors)
                    .shl(constants.event_hinted())
                | self.bit(constants.event_touched()).masked(twice);
        }
        self.store(Field::Event, event.masked_or(legal, self.load(Field::Event)));
    }

    /// Finds the endings and the rewards from the counters before and after the turn.
    #[inline(always)]
    fn find_endings(
        &mut self,
        live: <I::Lanes as Lanes>::Mask,
        legal: <I::Lanes as Lanes>::Mask,
        taken: &TakenCard<I::Lanes>,
        [before, counters]: [I::Lanes; 2],
    ) -> TurnResult {
        let constants = self.constants();
        let lives = self.splat(BYTE << counter::LIVES);
        let forfeited = live & !legal;
        let counters = counters & !lives.masked(forfeited);
        let lost = !counters.intersects(lives);
        let score = counters & self.splat(BYTE << counter::SCORE);
        let perfect = score.equals(self.splat((constants.cards() as u64) << counter::SCORE));
        let rest = if constants.crowning_piece {
            let gone = self.has_lost_indispensable_card(taken);
            let stuck = self.is_stuck(counters);
            let stuck = self.ending(Ending::NoLegalAction).masked(stuck);
            self.ending(Ending::IndispensableCardLost).masked_or(gone, stuck)
        } else {
            let turns = counters.intersects(self.splat(BYTE << counter::TURNS));
            self.ending(Ending::DeckExhausted).masked(!turns)
        };
        let ending = self
            .ending(Ending::Lost)
            .masked_or(lost, self.ending(Ending::Perfect).masked_or(perfect, rest));
        let counters = counters | ending.masked(live);
        self.store(Field::Counters, counters);
        let ended = live & ending.intersects(self.splat(BYTE << counter::ENDING));
        // A defeat takes back what the game has earned before.
        let mut reward = self.bit(0).masked(taken.added);
        if constants.forfeits {
            let defeat = live & ending.intersects(self.bit(counter::ENDING));
            let earned = before.shr(counter::SCORE) & self.splat(BYTE);
            reward = (self.isa.zero() - earned).masked_or(defeat, reward);
        }
        let mut turn = TurnResult {
            ended: ended.bits(),
            forfeited: forfeited.bits(),
            waiting: (!live).bits(),
            ..TurnResult::default()
        };
        reward.store(&mut turn.reward);
        counters.masked(ended).store(&mut turn.last);
        turn
    }

    #[inline(always)]
    fn ending(&self, ending: Ending) -> I::Lanes {
        self.splat((ending.code() as u64) << counter::ENDING)
    }

    /// Crowning piece: whether the discarded card was the last copy of a card that its firework
    /// still needs. The game would be over if an earlier one had been.
    #[inline(always)]
    fn has_lost_indispensable_card(
        &self,
        taken: &TakenCard<I::Lanes>,
    ) -> <I::Lanes as Lanes>::Mask {
        let constants = self.constants();
        let incomplete = self.splat(constants.highest()) & !self.load(Field::Fireworks);
        // Of each incomplete firework the cards from the next one to the highest.
        let needed = incomplete.shl(1) - self.load(Field::Next);
        let copies = self.copies(taken).masked(taken.discarded);
        let left = copies & !self.load(Field::Discards);
        taken.discarded & taken.card.intersects(needed) & !left.intersects(self.splat(u64::MAX))
    }

    /// Crowning piece: whether the next player has neither a card nor a legal hint.
    #[inline(always)]
    fn is_stuck(&self, counters: I::Lanes) -> <I::Lanes as Lanes>::Mask {
        let mut alone = self.is_empty(0);
        for offset in 2..self.constants().players {
            alone = alone & self.is_empty(offset);
        }
        let tokens = counters.intersects(self.splat(BYTE << counter::INFORMATION));
        self.is_empty(1) & (alone | !tokens)
    }

    /// Whether the hand at this offset has no card.
    #[inline(always)]
    fn is_empty(&self, offset: usize) -> <I::Lanes as Lanes>::Mask {
        self.card(offset, 0).equals(self.splat(ABSENT))
    }
}

const _: () = {
    // Bit 0 of an ending's code marks a defeat.
    let mut index = 0;
    while index < Ending::ALL.len() {
        let ending = Ending::ALL[index];
        assert!(ending.is_defeat() == (ending.code() & 1 == 1));
        index += 1;
    }
    assert!(DISCARD == PLAY << 1);
};
