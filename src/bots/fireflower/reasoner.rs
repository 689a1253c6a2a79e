//! What a player knows and believes, and what follows from it about hands.

use super::beliefs::{BeliefArchive, BeliefKind, CardBelief, CardGroup, TopBeliefs};
use super::seat_state::{CARDS, HandCards, SeatState};
use crate::bots::common::base_game::{HAND_SIZE, common_suit};
use crate::bots::common::copy_counts::CopyCounts;
use crate::bots::common::first_best;
use crate::rules::{BitIndices, CardSet, MAX_PLAYERS, Slot, SlotSet};

/// The possible kinds of each card, to a player's knowledge or to common knowledge.
#[derive(Clone, Copy, Debug)]
pub(super) struct CardKnowledge {
    /// Sets of kinds. 32 bits make the frequent copies cheaper.
    possible: [u32; CARDS],
    /// Copies that are not accounted for.
    unseen: CopyCounts,
    /// The cards of the last survey, as a bit set.
    cards: u64,
    /// The hidden copies of the last survey.
    counts: CopyCounts,
    /// The cards of the last survey whose kind is known.
    single: u64,
    /// Whether there were hints since the last survey.
    is_outdated: bool,
}

impl CardKnowledge {
    const EMPTY: CardKnowledge = CardKnowledge {
        possible: [0; CARDS],
        unseen: CopyCounts::BASE_GAME,
        cards: 0,
        counts: CopyCounts::BASE_GAME,
        single: 0,
        is_outdated: false,
    };

    /// The possible kinds of a card.
    pub(super) fn of(&self, id: usize) -> CardSet {
        CardSet(self.possible[id].into())
    }

    /// The possible kinds of each card of a hand, by slot.
    pub(super) fn of_hand(&self, hand: &HandCards) -> [CardSet; HAND_SIZE] {
        let mut possible = [CardSet::EMPTY; HAND_SIZE];
        for (slot, &id) in hand.ids().iter().enumerate() {
            possible[slot] = self.of(id.into());
        }
        possible
    }

    /// Computes the possible kinds of these cards in hands, given the number of hidden copies.
    fn survey(
        &mut self,
        plausible: &[u32; CARDS],
        state: &SeatState,
        counts: CopyCounts,
        cards: u64,
    ) {
        let is_known = self.counts == counts && self.cards & !cards == 0 && !self.is_outdated;
        let left = self.unseen.some();
        if is_known && (self.cards == cards || left.single().is_none()) {
            // New cards without hints change nothing for the others.
            for id in BitIndices(cards & !self.cards) {
                self.possible[id] = left.0 as u32 & plausible[id];
            }
            self.cards = cards;
        } else {
            self.survey_anew(plausible, state, counts, cards);
        }
    }

    /// Cards of known kind count as seen for all cards after them and, at the end, for all cards of
    /// unknown kind. As in the original, there is no second round.
    fn survey_anew(
        &mut self,
        plausible: &[u32; CARDS],
        state: &SeatState,
        counts: CopyCounts,
        cards: u64,
    ) {
        let left = counts.some();
        (self.counts, self.cards, self.is_outdated) = (counts, cards, false);
        (self.unseen, self.single) = (counts, 0);
        for hand in state.all_hands() {
            for id in BitIndices(hand.set & cards).rev() {
                let possible = self.unseen.some() & CardSet(plausible[id].into());
                self.possible[id] = possible.0 as u32;
                if possible.0.is_power_of_two() {
                    self.unseen.remove(possible);
                    self.single |= 1 << id;
                }
            }
        }
        if self.unseen.some() != left {
            for id in BitIndices(cards & !self.single) {
                self.possible[id] = self.unseen.some().0 as u32 & plausible[id];
            }
        }
    }

    /// The copies that are not accounted for.
    pub(super) fn unseen(&self) -> CopyCounts {
        self.unseen
    }
}

/// All that a player knows and believes, except the groups of cards. The search copies it before a
/// try, and restores the copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct BeliefState {
    /// The kinds that hints leave possible for each card.
    plausible: [u32; CARDS],
    /// Cards that a hint touched.
    touched: u64,
    /// Cards whose kind the observer knows.
    seen: u64,
    /// The observer's knowledge.
    pub own: CardKnowledge,
    /// The common knowledge of all players.
    pub common: CardKnowledge,
    pub tops: TopBeliefs,
}

impl BeliefState {
    pub(super) const NONE: BeliefState = BeliefState {
        plausible: [(1 << 25) - 1; CARDS],
        touched: 0,
        seen: 0,
        own: CardKnowledge::EMPTY,
        common: CardKnowledge::EMPTY,
        tops: TopBeliefs::NONE,
    };
}

/// The situation of the next player after a turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct AfterTurn {
    /// Whether the next player had no expected play.
    pub was_idle: bool,
    /// The next player's most likely discard.
    pub discard: u8,
    /// The critical kinds that were not accounted for just before the turn.
    pub critical: CardSet,
}

/// What is remembered of earlier turns. The search does not change it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PastTurns {
    /// The cards that each seat held when another seat last discarded with plenty of tokens left.
    pub hintable: [u64; MAX_PLAYERS],
    /// For each seat, its last turn that left plenty of tokens but not all.
    pub after_turns: [AfterTurn; MAX_PLAYERS],
}

impl PastTurns {
    pub(super) const NONE: PastTurns = PastTurns {
        hintable: [0; MAX_PLAYERS],
        after_turns: [AfterTurn { was_idle: false, discard: 0, critical: CardSet::EMPTY };
            MAX_PLAYERS],
    };
}

/// Whether cards that come later in their play sequence count as expected plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Now,
    Sometime,
}

/// How bad a discard is, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DiscardRating {
    /// Certainly critical.
    Fatal,
    /// Could be critical.
    Risky,
    /// Nothing is believed about it.
    Plain,
    /// Believed to be junk.
    Junk,
    /// Known to be dead.
    Dead,
}

/// A player's knowledge and beliefs, with the inferences from them.
pub(super) struct Reasoner<'a> {
    pub beliefs: &'a mut BeliefState,
    pub past: &'a mut PastTurns,
    pub archive: &'a mut BeliefArchive,
}

impl Reasoner<'_> {
    /// The observer sees the kind of a card.
    pub(super) fn see(&mut self, id: usize, card: CardSet) {
        self.beliefs.own.possible[id] = card.0 as u32;
        self.beliefs.seen |= 1 << id;
    }

    /// Updates the possible kinds of all cards, given the cards that are visible in this state.
    pub(super) fn update_knowledge(&mut self, state: &SeatState) {
        let BeliefState { plausible, seen, own, common, .. } = &mut *self.beliefs;
        common.survey(plausible, state, state.hidden, state.held());
        own.survey(plausible, state, state.unseen, state.blind);
        *seen = *seen & !state.blind | own.single;
    }

    /// The common knowledge, computed from scratch.
    pub(super) fn common_knowledge(&self, state: &SeatState) -> CardKnowledge {
        let mut sight = CardKnowledge::EMPTY;
        sight.survey_anew(&self.beliefs.plausible, state, state.hidden, state.held());
        sight
    }

    /// The possible kinds of another seat's cards to its own knowledge, except that the observer's
    /// hand stays hidden.
    pub(super) fn hand_seen_from(&self, state: &SeatState, seat: usize) -> [CardSet; HAND_SIZE] {
        let hand = &state.hands[seat];
        let mut unseen = state.unseen;
        for &id in hand.ids() {
            unseen.add(state.face(id.into()));
        }
        let mut sight = CardKnowledge::EMPTY;
        sight.survey_anew(&self.beliefs.plausible, state, unseen, state.blind | hand.set);
        sight.of_hand(hand)
    }

    /// A card left its hand and is public.
    pub(super) fn reveal(&mut self, id: usize, card: CardSet) {
        self.see(id, card);
        self.beliefs.common.possible[id] = card.0 as u32;
    }

    /// Applies the content of a hint to all cards of a hand.
    pub(super) fn tell(&mut self, hand: &HandCards, cards: CardSet, touched: SlotSet) {
        let BeliefState { plausible, own, common, touched: pointed_out, .. } = &mut *self.beliefs;
        for (slot, &id) in hand.ids().iter().enumerate() {
            let id = usize::from(id);
            let is_touched = touched.contains(Slot::at(slot));
            let left = if is_touched { cards.0 } else { !cards.0 } as u32;
            plausible[id] &= left;
            own.possible[id] &= left;
            common.possible[id] &= left;
            *pointed_out |= u64::from(is_touched) << id;
        }
        common.is_outdated = true;
        own.is_outdated |= own.cards & hand.set != 0;
    }

    /// Whether a hint touched this card.
    pub(super) fn is_touched(&self, id: usize) -> bool {
        self.beliefs.touched >> id & 1 == 1
    }

    /// The kind of a card as a set; empty if the observer does not know it.
    pub(super) fn seen(&self, id: usize) -> CardSet {
        if self.is_seen(id) { self.beliefs.own.of(id) } else { CardSet::EMPTY }
    }

    /// Whether the observer knows the kind of this card.
    pub(super) fn is_seen(&self, id: usize) -> bool {
        self.beliefs.seen >> id & 1 == 1
    }

    /// Whether each card that the observer does not see has a possible kind.
    pub(super) fn is_consistent(&self, state: &SeatState) -> bool {
        let BeliefState { own, plausible, .. } = &*self.beliefs;
        BitIndices(state.blind).all(|id| own.possible[id] & plausible[id] != 0)
    }

    /// The commonly known suit of a card, if it is not dead.
    pub(super) fn useful_suit(&self, state: &SeatState, id: usize) -> Option<usize> {
        common_suit(self.beliefs.common.of(id) - state.status.dead)
    }

    /// Whether no other player has discarded, with plenty of tokens for a hint, while this card was
    /// in the hand.
    pub(super) fn is_new(&self, seat: usize, id: usize) -> bool {
        self.past.hintable[seat] >> id & 1 == 0
    }

    pub(super) fn belief(&self, id: usize) -> CardBelief {
        self.beliefs.tops.of(id)
    }

    pub(super) fn group(&self, belief: CardBelief) -> &CardGroup {
        self.archive.group(belief)
    }

    pub(super) fn believe(&mut self, kind: BeliefKind, group: &CardGroup) {
        self.archive.believe(&mut self.beliefs.tops, kind, group);
    }

    /// Adds the belief in a finesse: the target is of this kind, and is played right before the
    /// base.
    pub(super) fn believe_finesse(&mut self, target: usize, base: usize, card: usize) {
        let belief = self.belief(base);
        let (group, place) = if belief.is_play() {
            let place = usize::from(belief.place);
            (self.group(belief).insert(place, target), place)
        } else {
            (CardGroup::of(target), 0)
        };
        self.archive.believe_finesse(&mut self.beliefs.tops, &group, target, place, card);
    }

    pub(super) fn remove_belief(&mut self, id: usize) {
        self.archive.remove(&mut self.beliefs.tops, id);
    }

    /// The slots that the owner of a hand is expected to play, given the possible kinds of its
    /// cards.
    pub(super) fn expected_plays(
        &self,
        state: &SeatState,
        hand: &HandCards,
        possible: &[CardSet; HAND_SIZE],
        when: When,
    ) -> SlotSet {
        let status = &state.status;
        let tops = &self.beliefs.tops;
        let believed = if when == When::Now { tops.first_plays } else { tops.plays };
        let mut plays = 0;
        for (slot, (&id, possible)) in hand.ids().iter().zip(possible).enumerate() {
            let kept_for = status.playable | status.dead;
            let is_play = possible.intersects(status.playable)
                && (possible.is_subset(status.playable)
                    || believed >> id & 1 == 1
                    || tops.kept >> id & 1 == 1 && possible.is_subset(kept_for));
            plays |= u8::from(is_play) << slot;
        }
        SlotSet(plays)
    }

    /// The expected plays of a seat by common knowledge.
    pub(super) fn common_plays(&self, state: &SeatState, seat: usize, when: When) -> SlotSet {
        let hand = &state.hands[seat];
        self.expected_plays(state, hand, &self.beliefs.common.of_hand(hand), when)
    }

    /// The slot that the owner of a hand will most likely discard, given the possible kinds of its
    /// cards, and how bad that is. On ties the oldest.
    pub(super) fn likely_discard(
        &self,
        state: &SeatState,
        hand: &HandCards,
        possible: &[CardSet; HAND_SIZE],
    ) -> (usize, DiscardRating) {
        let slots = hand.ids().iter().zip(possible).enumerate();
        let rated = slots
            .map(|(slot, (&id, &possible))| (slot, self.rate_discard(state, id.into(), possible)));
        first_best(rated).unwrap_or((0, DiscardRating::Fatal))
    }

    fn rate_discard(&self, state: &SeatState, id: usize, possible: CardSet) -> DiscardRating {
        let status = &state.status;
        let tops = &self.beliefs.tops;
        if possible.is_subset(status.dead) {
            DiscardRating::Dead
        } else if tops.junk >> id & 1 == 1 && possible.intersects(status.dead) {
            DiscardRating::Junk
        } else if (tops.plays | tops.kept) >> id & 1 == 0 {
            DiscardRating::Plain
        } else if possible.is_subset(status.critical) {
            DiscardRating::Fatal
        } else {
            DiscardRating::Risky
        }
    }

    /// The likely discard of a seat by common knowledge.
    pub(super) fn common_discard(&self, state: &SeatState, seat: usize) -> (usize, DiscardRating) {
        let hand = &state.hands[seat];
        self.likely_discard(state, hand, &self.beliefs.common.of_hand(hand))
    }
}
