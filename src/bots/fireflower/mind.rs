//! What a player knows and believes, and the questions that it asks itself about hands.

use super::beliefs::{Archive, Belief, Group, Idea, Tops};
use super::board::{Board, HAND_SIZE, Hand, Newest, Oldest, SEATS};
use super::cards::{CARDS, Counts, common_suit};
use crate::rules::{CardSet, SlotSet};

/// What each card can be, to somebody's knowledge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    /// Sets of kinds, in half of the width to be copied faster.
    possible: [u32; CARDS],
    /// Copies that are not accounted for.
    unseen: Counts,
    /// What was surveyed last: these cards, with so many copies out of sight.
    cards: u64,
    counts: Counts,
    /// Those of the cards which can only be one thing.
    single: u64,
    /// Whether hints have told more since.
    is_outdated: bool,
}

impl Sight {
    const NOTHING: Sight = Sight {
        possible: [0; CARDS],
        unseen: Counts::DECK,
        cards: 0,
        counts: Counts::DECK,
        single: 0,
        is_outdated: false,
    };

    /// What a card can be.
    pub(super) fn of(&self, id: usize) -> CardSet {
        CardSet(self.possible[id].into())
    }

    /// What each card of a hand can be, by slot.
    pub(super) fn of_hand(&self, hand: &Hand) -> [CardSet; HAND_SIZE] {
        let mut possible = [CardSet::EMPTY; HAND_SIZE];
        for (slot, &id) in hand.ids().iter().enumerate() {
            possible[slot] = self.of(id.into());
        }
        possible
    }

    /// Finds what these cards in hands can be, with so many copies out of sight.
    fn survey(&mut self, told: &[u32; CARDS], board: &Board, counts: Counts, cards: u64) {
        let is_known = self.counts == counts && self.cards & !cards == 0 && !self.is_outdated;
        let left = self.unseen.some();
        if is_known && (self.cards == cards || left.single().is_none()) {
            // New cards, of which nothing is told, change nothing for the others.
            for id in Oldest(cards & !self.cards) {
                self.possible[id] = left.0 as u32 & told[id];
            }
            self.cards = cards;
        } else {
            self.survey_anew(told, board, counts, cards);
        }
    }

    /// Cards that can only be one thing count as seen, in one round: what follows from them for
    /// the ones before is left open.
    fn survey_anew(&mut self, told: &[u32; CARDS], board: &Board, counts: Counts, cards: u64) {
        let left = counts.some();
        (self.counts, self.cards, self.is_outdated) = (counts, cards, false);
        (self.unseen, self.single) = (counts, 0);
        for hand in board.all_hands() {
            for id in Newest(hand.set & cards) {
                let possible = self.unseen.some() & CardSet(told[id].into());
                self.possible[id] = possible.0 as u32;
                if possible.0.is_power_of_two() {
                    self.unseen.take(possible);
                    self.single |= 1 << id;
                }
            }
        }
        if self.unseen.some() != left {
            for id in Oldest(cards & !self.single) {
                self.possible[id] = self.unseen.some().0 as u32 & told[id];
            }
        }
    }

    /// Kinds of which a copy is not accounted for.
    pub(super) fn unseen(&self) -> Counts {
        self.unseen
    }
}

/// All that a player knows and believes, but for the groups. It is copied to go back to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    /// What hints leave of each card, as sets of kinds.
    told: [u32; CARDS],
    /// Cards that a hint has pointed out.
    touched: u64,
    /// Cards whose kind the observer counts as seen.
    seen: u64,
    /// The observer's knowledge.
    pub own: Sight,
    /// Everybody's knowledge.
    pub common: Sight,
    pub tops: Tops,
}

impl Memory {
    pub(super) const NONE: Memory = Memory {
        told: [(1 << 25) - 1; CARDS],
        touched: 0,
        seen: 0,
        own: Sight::NOTHING,
        common: Sight::NOTHING,
        tops: Tops::NONE,
    };
}

/// How a turn left the table for the player after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause {
    /// Whether that player had nothing to play.
    pub was_idle: bool,
    /// The card that it was most likely to discard.
    pub discard: u8,
    /// What was critical and not accounted for just before.
    pub critical: CardSet,
}

/// What is remembered of earlier turns. Looking ahead adds nothing to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Past {
    /// For each seat the cards that it held when another seat last discarded with plenty of
    /// tokens left.
    pub hintable: [u64; SEATS],
    /// The last turn of each seat that left plenty of tokens, but not all.
    pub pauses: [Pause; SEATS],
}

impl Past {
    pub(super) const NONE: Past = Past {
        hintable: [0; SEATS],
        pauses: [Pause { was_idle: false, discard: 0, critical: CardSet::EMPTY }; SEATS],
    };
}

/// Whether a card that comes later in its play sequence counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Now,
    Sometime,
}

/// What becomes of a player who discards this, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Discard {
    /// Certainly critical.
    Fatal,
    /// Could be critical.
    Risky,
    /// Nothing is believed of it.
    Plain,
    /// Believed to be junk.
    Junk,
    /// Known to be dead.
    Dead,
}

/// A player that thinks.
pub(super) struct Mind<'a> {
    pub memory: &'a mut Memory,
    pub past: &'a mut Past,
    pub archive: &'a mut Archive,
}

impl Mind<'_> {
    // Knowledge.

    /// The observer sees the kind of a card.
    pub(super) fn see(&mut self, id: usize, card: CardSet) {
        self.memory.own.possible[id] = card.0 as u32;
        self.memory.seen |= 1 << id;
    }

    /// Counts the visible cards anew.
    pub(super) fn look(&mut self, board: &Board) {
        let Memory { told, seen, own, common, .. } = &mut *self.memory;
        common.survey(told, board, board.hidden, board.held());
        own.survey(told, board, board.unseen, board.blind);
        *seen = *seen & !board.blind | own.single;
    }

    /// What everybody knows, counted anew.
    pub(super) fn common_sight(&self, board: &Board) -> Sight {
        let mut sight = Sight::NOTHING;
        sight.survey_anew(&self.memory.told, board, board.hidden, board.held());
        sight
    }

    /// What the cards of another seat can be to its knowledge, as far as the observer can tell:
    /// the observer's hand stays hidden.
    pub(super) fn hand_seen_from(&self, board: &Board, seat: usize) -> [CardSet; HAND_SIZE] {
        let hand = &board.hands[seat];
        let mut unseen = board.unseen;
        for &id in hand.ids() {
            unseen.put_back(board.face(id.into()));
        }
        let mut sight = Sight::NOTHING;
        sight.survey_anew(&self.memory.told, board, unseen, board.blind | hand.set);
        sight.of_hand(hand)
    }

    /// A card that leaves its hand lies open.
    pub(super) fn reveal(&mut self, id: usize, card: CardSet) {
        self.see(id, card);
        self.memory.common.possible[id] = card.0 as u32;
    }

    /// A hint tells something of each card of a hand.
    pub(super) fn tell(&mut self, hand: &Hand, cards: CardSet, touched: SlotSet) {
        let Memory { told, own, common, touched: pointed_out, .. } = &mut *self.memory;
        for (slot, &id) in hand.ids().iter().enumerate() {
            let id = usize::from(id);
            let is_touched = touched.contains(slot);
            let left = if is_touched { cards.0 } else { !cards.0 } as u32;
            told[id] &= left;
            own.possible[id] &= left;
            common.possible[id] &= left;
            *pointed_out |= u64::from(is_touched) << id;
        }
        common.is_outdated = true;
        own.is_outdated |= own.cards & hand.set != 0;
    }

    /// Whether a hint has pointed this card out.
    pub(super) fn is_touched(&self, id: usize) -> bool {
        self.memory.touched >> id & 1 == 1
    }

    /// The kind of a card, if the observer counts it as seen; nothing for another one.
    pub(super) fn seen(&self, id: usize) -> CardSet {
        if self.is_seen(id) { self.memory.own.of(id) } else { CardSet::EMPTY }
    }

    /// Whether the observer counts this card as seen.
    pub(super) fn is_seen(&self, id: usize) -> bool {
        self.memory.seen >> id & 1 == 1
    }

    /// Whether there is something that each card can be. The visible ones are what they are.
    pub(super) fn is_consistent(&self, board: &Board) -> bool {
        let Memory { own, told, .. } = &*self.memory;
        Oldest(board.blind).all(|id| own.possible[id] & told[id] != 0)
    }

    /// The suit that a card has for all to know, if it is of any use.
    pub(super) fn useful_suit(&self, board: &Board, id: usize) -> Option<usize> {
        common_suit(self.memory.common.of(id) - board.prospects.dead)
    }

    /// Whether a card has never been in the hand while another player discarded although there
    /// were plenty of tokens for a hint.
    pub(super) fn is_new(&self, seat: usize, id: usize) -> bool {
        self.past.hintable[seat] >> id & 1 == 0
    }

    // Beliefs.

    pub(super) fn belief(&self, id: usize) -> Belief {
        self.memory.tops.of(id)
    }

    pub(super) fn group(&self, belief: Belief) -> &Group {
        self.archive.group(belief)
    }

    pub(super) fn believe(&mut self, idea: Idea, group: &Group) {
        self.archive.believe(&mut self.memory.tops, idea, group);
    }

    /// Believes a finesse: the target is of this kind and comes right before the base.
    pub(super) fn believe_finesse(&mut self, target: usize, base: usize, card: usize) {
        let belief = self.belief(base);
        let (group, place) = if belief.is_play() {
            let place = usize::from(belief.place);
            (self.group(belief).insert(place, target), place)
        } else {
            (Group::of(target), 0)
        };
        self.archive.believe_finesse(&mut self.memory.tops, &group, target, place, card);
    }

    pub(super) fn lift(&mut self, id: usize) {
        self.archive.lift(&mut self.memory.tops, id);
    }

    // Questions.

    /// The slots of cards which their owner is expected to play, of a hand whose cards can be
    /// this.
    pub(super) fn expected_plays(
        &self,
        board: &Board,
        hand: &Hand,
        possible: &[CardSet; HAND_SIZE],
        when: When,
    ) -> SlotSet {
        let prospects = &board.prospects;
        let tops = &self.memory.tops;
        let believed = if when == When::Now { tops.first_plays } else { tops.plays };
        let mut plays = 0;
        for (slot, (&id, possible)) in hand.ids().iter().zip(possible).enumerate() {
            let kept_for = prospects.playable | prospects.dead;
            let is_play = possible.meets(prospects.playable)
                && (possible.is_subset(prospects.playable)
                    || believed >> id & 1 == 1
                    || tops.kept >> id & 1 == 1 && possible.is_subset(kept_for));
            plays |= u8::from(is_play) << slot;
        }
        SlotSet(plays)
    }

    /// The expected plays of a seat, as everybody knows them.
    pub(super) fn common_plays(&self, board: &Board, seat: usize, when: When) -> SlotSet {
        let hand = &board.hands[seat];
        self.expected_plays(board, hand, &self.memory.common.of_hand(hand), when)
    }

    /// The slot that is most likely to be discarded from a hand whose cards can be this, and how
    /// bad that is. The older of two like cards goes first.
    pub(super) fn likely_discard(
        &self,
        board: &Board,
        hand: &Hand,
        possible: &[CardSet; HAND_SIZE],
    ) -> (usize, Discard) {
        let slots = hand.ids().iter().zip(possible).enumerate();
        let mut best = (0, Discard::Fatal);
        for (slot, (&id, &possible)) in slots {
            let discard = self.rate_discard(board, id.into(), possible);
            if discard > best.1 {
                best = (slot, discard);
            }
        }
        best
    }

    fn rate_discard(&self, board: &Board, id: usize, possible: CardSet) -> Discard {
        let prospects = &board.prospects;
        let tops = &self.memory.tops;
        if possible.is_subset(prospects.dead) {
            Discard::Dead
        } else if tops.junk >> id & 1 == 1 && possible.meets(prospects.dead) {
            Discard::Junk
        } else if (tops.plays | tops.kept) >> id & 1 == 0 {
            Discard::Plain
        } else if possible.is_subset(prospects.critical) {
            Discard::Fatal
        } else {
            Discard::Risky
        }
    }

    /// The likely discard of a seat, as everybody knows it.
    pub(super) fn common_discard(&self, board: &Board, seat: usize) -> (usize, Discard) {
        let hand = &board.hands[seat];
        self.likely_discard(board, hand, &self.memory.common.of_hand(hand))
    }
}
