//! The meaning of a turn. [`hint_meaning`](super::hint_meaning) has the hints.

use super::beliefs::{BeliefKind, CardGroup};
use super::hint_meaning::GivenHint;
use super::reasoner::{AfterTurn, Reasoner, When};
use super::seat_state::{MAX_TOKENS, SeatMove, SeatState};
use crate::rules::{BitIndices, CardSet, Slot, SlotSet};

/// With at least this many tokens, a player who discards could have given a hint instead.
const PLENTY: u8 = 3;

impl Reasoner<'_> {
    /// Updates everything with a turn that was played.
    pub(super) fn observe(&mut self, played: SeatMove, before: &SeatState, after: &SeatState) {
        let critical = before.status.critical & self.beliefs.common.unseen().some();
        self.react(played, before, after);
        self.note(played, critical, before, after);
        self.settle(before, after);
    }

    /// Updates knowledge and beliefs with a move. [`Reasoner::settle`] must follow.
    pub(super) fn react(&mut self, played: SeatMove, before: &SeatState, after: &SeatState) {
        match played {
            SeatMove::Play { slot } => {
                let id = before.hands[before.current].id(slot);
                self.reveal(id, after.face(id));
                self.update_knowledge(after);
                if before.fits(after.face(id)) {
                    self.on_play(id);
                } else {
                    self.on_misplay(id, before, after);
                }
            }
            SeatMove::Discard { slot } => self.on_discard(slot, before, after),
            SeatMove::Hint { seat, hint, touched } => {
                self.update_knowledge(after);
                let before_hint = self.before_hint(after, seat);
                self.on_hint(after, &GivenHint::new(after, seat, hint, touched), &before_hint);
            }
            SeatMove::UnknownHint => self.update_knowledge(after),
        }
    }

    /// Revises the beliefs by the new knowledge. Returns whether the knowledge is consistent.
    pub(super) fn settle(&mut self, before: &SeatState, after: &SeatState) -> bool {
        let is_consistent = self.is_consistent(after);
        if is_consistent {
            self.revise(before, after);
        }
        is_consistent
    }

    /// Remembers the situation after a turn that replaced a card, except a misplay.
    fn note(&mut self, played: SeatMove, critical: CardSet, before: &SeatState, after: &SeatState) {
        let (seat, next) = (before.current, after.current);
        let is_noted = match played {
            SeatMove::Discard { .. } => true,
            SeatMove::Play { .. } => after.score > before.score,
            SeatMove::Hint { .. } | SeatMove::UnknownHint => false,
        };
        if !is_noted || after.tokens < PLENTY {
            return;
        }
        if after.tokens < MAX_TOKENS {
            let was_idle = self.common_plays(after, next, When::Now) == SlotSet(0);
            let (slot, _) = self.common_discard(after, next);
            let discard = after.hands[next].ids().get(slot).copied().unwrap_or(0);
            self.past.after_turns[seat] = AfterTurn { was_idle, discard, critical };
        }
        if matches!(played, SeatMove::Discard { .. }) {
            for other in (0..after.players).filter(|&other| other != seat) {
                self.past.hintable[other] = after.hands[other].set;
            }
        }
    }

    /// A card was added to its stack: its sequence continues without it.
    fn on_play(&mut self, id: usize) {
        let belief = self.belief(id);
        if belief.is_play() {
            let rest = self.group(belief).filter(|other| other != id);
            self.believe(BeliefKind::Play, &rest);
        }
    }

    /// A misplay of a card with a play belief: the rest of its sequence is kept from now on, unless
    /// the card was dead.
    fn on_misplay(&mut self, id: usize, before: &SeatState, after: &SeatState) {
        let belief = self.belief(id);
        if !belief.is_play() {
            return;
        }
        let group = *self.group(belief);
        if !after.face(id).intersects(after.status.dead) {
            self.believe(BeliefKind::Keep, &group);
        }
        // If the card was always the first of its group, the hint may have meant to keep it, and
        // then also the cards that are older than the group.
        if self.belief(id).always_first {
            let hand = &before.hands[before.current];
            let newest = hand.size().saturating_sub(1);
            let in_group = |id| group.set >> id & 1 == 1;
            let oldest = (0..newest).find(|&slot| in_group(hand.id(slot))).unwrap_or(newest);
            let older = (0..oldest).rev().map(|slot| hand.id(slot)).collect();
            self.believe(BeliefKind::Keep, &older);
        }
    }

    fn on_discard(&mut self, slot: usize, before: &SeatState, after: &SeatState) {
        let seat = before.current;
        let id = before.hands[seat].id(slot);
        let expected = self.common_plays(before, seat, When::Now);
        let could_be = self.beliefs.common.of(id);
        let likely = self.common_discard(before, seat).0;
        self.reveal(id, after.face(id));
        self.update_knowledge(after);
        self.end_sequence(id, after);
        if expected.contains(Slot::at(slot)) {
            self.mark_copies(id, could_be & after.status.playable, before, after);
        } else if !after.face(id).intersects(after.status.dead) {
            self.doubt_junk(id);
        }
        if after.tokens <= 1 && expected != SlotSet(0) && likely == slot {
            self.protect_next_discard(after);
        }
    }

    /// A discarded card will not be played: cards that could only have followed it leave the
    /// sequence.
    fn end_sequence(&mut self, id: usize, after: &SeatState) {
        let belief = self.belief(id);
        if !belief.is_play() {
            return;
        }
        let group = *self.group(belief);
        let mut left = CardGroup::EMPTY;
        for (place, later) in group.iter().enumerate() {
            let possible = self.beliefs.common.of(later) - after.face(id);
            if place <= belief.place.into() {
                left.push(later);
            } else if possible.is_subset(after.status.dead) {
                self.believe(BeliefKind::Junk, &CardGroup::of(later));
            } else if !possible.intersects(after.status.playable) {
                self.believe(BeliefKind::Keep, &CardGroup::of(later));
            } else {
                left.push(later);
            }
        }
        if left.len() != group.len() {
            self.believe(BeliefKind::Play, &left);
        }
    }

    /// A junk card that was not dead: the rest of its group is kept from now on.
    fn doubt_junk(&mut self, id: usize) {
        let belief = self.belief(id);
        if belief.kind == BeliefKind::Junk {
            let group = *self.group(belief);
            self.believe(BeliefKind::Keep, &group);
        }
    }

    /// A player without tokens discarded although it had an expected play: it wanted a token to
    /// protect the next player's discard.
    fn protect_next_discard(&mut self, after: &SeatState) {
        let (slot, _) = self.common_discard(after, after.current);
        let Some(&id) = after.hands[after.current].ids().get(slot) else { return };
        if !self.belief(id.into()).is_keep() {
            self.believe(BeliefKind::Keep, &CardGroup::of(id.into()));
        }
    }

    /// A player discarded a playable card, which by common knowledge was one of these kinds:
    /// another player holds a copy and should play it. Only with up to three players, and not after
    /// a finesse.
    fn mark_copies(&mut self, id: usize, cards: CardSet, before: &SeatState, after: &SeatState) {
        let is_finesse = self.belief(id).finesse().is_some();
        if after.players > 3 || is_finesse || cards.is_empty() {
            return;
        }
        for seat in BitIndices(self.seats_with(cards, before.current, after)) {
            let hand = after.hands[seat];
            let can_be = |id| self.beliefs.common.of(id).intersects(cards);
            let newest = |touched: bool| {
                let mut ids = hand.newest_first().map(|(_, id)| id);
                ids.find(|&id| can_be(id) && (!touched || self.is_touched(id)))
            };
            if let Some(target) = newest(true).or_else(|| newest(false)) {
                self.mark_copy(id, target);
            }
        }
    }

    /// The seats that may hold the copy of a discarded playable card: the only other seat that
    /// visibly holds one, or else those whose cards the observer cannot see; one bit each.
    fn seats_with(&self, cards: CardSet, discarder: usize, after: &SeatState) -> u64 {
        let others = (0..after.players).filter(|&seat| seat != discarder);
        let all = others.clone().fold(0, |set, seat| set | 1 << seat);
        let shows = |seat: &usize| {
            let mut ids = after.hands[*seat].ids().iter();
            ids.any(|&id| self.seen(id.into()).intersects(cards))
        };
        let showing = others.filter(shows).fold(0u64, |set, seat| set | 1 << seat);
        match showing.count_ones() {
            0 if after.observer == discarder => all,
            0 => 1 << after.observer,
            1 => showing,
            _ => 0,
        }
    }

    /// The copy takes the place of the discarded card.
    fn mark_copy(&mut self, discarded: usize, target: usize) {
        if self.beliefs.tops.first_plays >> target & 1 == 1 {
            return;
        }
        let belief = self.belief(discarded);
        let group = if belief.is_play() {
            self.group(belief).replace(belief.place.into(), target)
        } else {
            // As in the original: the copy only replaces a card that was part of a sequence.
            CardGroup::of(discarded)
        };
        self.believe(BeliefKind::Play, &group);
    }
}
