//! The meaning of a hint: cards should be played, or kept.

use super::beliefs::{BeliefKind, CardGroup};
use super::reasoner::{Reasoner, When};
use super::seat_state::{HandCards, SeatState};
use crate::bots::common::base_game::{SUITS, of_hint, of_rank};
use crate::bots::common::copy_counts::CopyCounts;
use crate::rules::{Hint, Slot, SlotSet};

/// The common knowledge before a hint.
#[derive(Clone, Copy)]
pub(super) struct BeforeHint {
    /// Expected plays of the hinted hand.
    pub plays: SlotSet,
    /// All cards that are believed or known to be playable.
    pub promised: CardGroup,
}

/// A hint and the hand that it touches.
pub(super) struct GivenHint {
    seat: usize,
    hand: HandCards,
    hint: Hint,
    touched: SlotSet,
    /// The touched cards, the newest first.
    ids: CardGroup,
}

impl GivenHint {
    pub(super) fn new(state: &SeatState, seat: usize, hint: Hint, touched: SlotSet) -> GivenHint {
        let hand = state.hands[seat];
        let newest_first = hand.newest_first();
        let ids =
            newest_first.filter(|&(slot, _)| touched.contains(Slot::at(slot))).map(|(_, id)| id);
        GivenHint { seat, hand, hint, touched, ids: ids.collect() }
    }
}

impl Reasoner<'_> {
    /// The common knowledge before a hint to this seat, after [`Reasoner::update_knowledge`].
    pub(super) fn before_hint(&self, state: &SeatState, seat: usize) -> BeforeHint {
        let plays = self.common_plays(state, seat, When::Now);
        BeforeHint { plays, promised: self.promised_plays(state) }
    }

    pub(super) fn on_hint(
        &mut self,
        state: &SeatState,
        given: &GivenHint,
        before_hint: &BeforeHint,
    ) {
        self.tell(&given.hand, of_hint(given.hint), given.touched);
        let (ids, status) = (&given.ids, &state.status);
        let possible = |id| self.beliefs.common.of(id);
        let can_be_played = |id| possible(id).intersects(status.playable);
        let is_dead = |id| possible(id).is_subset(status.dead);
        if self.is_protecting(state, given, before_hint) {
            self.believe(BeliefKind::Keep, ids);
        } else if ids.iter().any(can_be_played) {
            self.expect_plays(state, given, before_hint);
        } else if !ids.iter().any(is_dead) {
            self.finesse(state, given.seat, ids);
            let left = self.chain(state, ids, &before_hint.promised);
            self.believe(BeliefKind::Keep, &left);
        } else if ids.iter().all(is_dead) {
            self.keep_older(given);
        }
    }

    /// Every card that is known to be playable or has a play belief.
    pub(super) fn promised_plays(&self, state: &SeatState) -> CardGroup {
        let ids = state.all_hands().iter().flat_map(|hand| hand.newest_first());
        let is_known = |id: usize| {
            let possible = self.beliefs.common.of(id);
            possible.single().is_some() && possible.intersects(state.status.playable)
        };
        ids.map(|(_, id)| id).filter(|&id| is_known(id) || self.belief(id).is_play()).collect()
    }

    /// The touched cards should be played: first those that are certainly playable, then the
    /// others, the newest first.
    fn expect_plays(&mut self, state: &SeatState, given: &GivenHint, before_hint: &BeforeHint) {
        let playable = state.status.playable;
        let is_certain = |id: usize| self.beliefs.common.of(id).is_subset(playable);
        let mut plays = given.ids.filter(is_certain);
        let others = given.ids.filter(|id| !is_certain(id));
        for id in self.chain(state, &others, &before_hint.promised).iter() {
            plays.push(id);
        }
        self.believe(BeliefKind::Play, &plays);
        self.finesse(state, given.seat, &given.ids);
    }

    /// Appends the cards whose suit is that of a promised play to its sequence. Returns the other
    /// cards.
    fn chain(&mut self, state: &SeatState, ids: &CardGroup, promised: &CardGroup) -> CardGroup {
        ids.filter(|id| !self.follows(state, id, promised))
    }

    fn follows(&mut self, state: &SeatState, id: usize, promised: &CardGroup) -> bool {
        let suit = self.useful_suit(state, id);
        let is_ahead = |other: &usize| *other != id && self.useful_suit(state, *other) == suit;
        let first = if suit.is_some() { promised.iter().find(is_ahead) } else { None };
        let Some(first) = first else { return false };
        let belief = self.belief(first);
        let mut sequence = if belief.is_play() {
            let same_suit = |other| other == first || self.useful_suit(state, other) == suit;
            self.group(belief).filter(same_suit)
        } else {
            CardGroup::of(first)
        };
        sequence.push(id);
        self.believe(BeliefKind::Play, &sequence);
        true
    }

    /// A hint that touches only dead cards means to keep the older cards.
    fn keep_older(&mut self, given: &GivenHint) {
        let oldest = given.touched.0.trailing_zeros() as usize;
        let slots = (0..oldest.min(given.hand.size())).rev();
        let older = slots.map(|slot| given.hand.id(slot)).collect();
        self.believe(BeliefKind::Keep, &older);
    }

    /// Whether the hint protects a card from a discard or a misplay.
    fn is_protecting(
        &self,
        state: &SeatState,
        given: &GivenHint,
        before_hint: &BeforeHint,
    ) -> bool {
        let (slot, _) = self.common_discard(state, given.seat);
        let critical = state.status.critical;
        let possible = |slot| self.beliefs.common.of(given.hand.id(slot));
        let guards_discard =
            given.touched.contains(Slot::at(slot)) && possible(slot).intersects(critical);
        let warns = before_hint.plays.iter().any(|slot| possible(slot.index()).is_subset(critical));
        let plays = before_hint.plays.0;
        (guards_discard || warns)
            && (plays == 0 || plays & given.touched.0 != 0)
            && !self.is_play_all_the_same(state, given, before_hint, guards_discard, warns, slot)
    }

    /// Whether there are signs that a hint is a play hint although it touches the likely discard,
    /// or an expected play that is critical.
    fn is_play_all_the_same(
        &self,
        state: &SeatState,
        given: &GivenHint,
        before_hint: &BeforeHint,
        guards_discard: bool,
        warns: bool,
        discard: usize,
    ) -> bool {
        let says_something_new = given.touched.0 & !before_hint.plays.0 != 0;
        let was_safe = || {
            let id = given.hand.id(discard);
            guards_discard && !warns && self.was_left_unguarded(state, given.seat, id)
        };
        says_something_new
            && (was_safe()
                || match given.hint {
                    Hint::Rank(rank) => self.is_rank_hint_for_plays(state, given, rank.index()),
                    Hint::Color(_) => self.is_color_hint_for_plays(state, given),
                })
    }

    /// Whether the previous player had the chance to protect this likely discard and did not, and
    /// none of its possible kinds became critical since.
    fn was_left_unguarded(&self, state: &SeatState, seat: usize, id: usize) -> bool {
        let before = if seat == 0 { state.players - 1 } else { seat - 1 };
        let common = &self.beliefs.common;
        let critical = common.unseen().some() & state.status.critical & common.of(id);
        let pause = &self.past.after_turns[before];
        self.belief(id).kind == BeliefKind::None
            && pause.was_idle
            && usize::from(pause.discard) == id
            && critical.is_subset(pause.critical)
    }

    fn is_rank_hint_for_plays(&self, state: &SeatState, given: &GivenHint, rank: usize) -> bool {
        let status = &state.status;
        let possible = |id| self.beliefs.common.of(id);
        let can_be_played = |id| possible(id).intersects(status.playable);
        let is_clear = |id| {
            can_be_played(id) || possible(id).is_subset(status.dead) || possible(id).len() == 1
        };
        if !given.ids.iter().all(is_clear) {
            return false;
        }
        let plays = given.ids.iter().filter(|&id| can_be_played(id)).count();
        let past = (state.played & of_rank(rank)).len();
        let reached = match rank.checked_sub(1) {
            Some(under) => (state.played & of_rank(under)).len(),
            None => SUITS,
        };
        let newest = given.ids.first();
        plays > SUITS - past
            || reached == SUITS
            || plays >= SUITS - reached && newest.is_some_and(|id| self.is_new(given.seat, id))
    }

    fn is_color_hint_for_plays(&self, state: &SeatState, given: &GivenHint) -> bool {
        let hand = &given.hand;
        let newest = hand.size().saturating_sub(1);
        let is_kept = |slot| self.belief(hand.id(slot)).is_keep();
        if given.touched.contains(Slot::at(newest)) && (0..newest).all(is_kept) {
            return true;
        }
        let status = &state.status;
        let threatened = status.critical - status.playable - CopyCounts::BASE_GAME.one();
        let is_safe = |id| {
            let possible = self.beliefs.common.of(id);
            possible.len() == 1 || !possible.intersects(threatened)
        };
        given.ids.first().is_some_and(|id| self.is_new(given.seat, id))
            && given.ids.iter().all(is_safe)
    }
}
