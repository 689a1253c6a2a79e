//! What a player makes of plays and discards.

use super::beliefs::{Group, Idea};
use super::board::{Board, Deed, MAX_TOKENS};
use super::hints::Hinted;
use super::mind::{Mind, Pause, When};
use crate::rules::{CardSet, SlotSet};

/// From so many tokens on, a player who discards could have hinted instead.
const PLENTY: u8 = 3;

impl Mind<'_> {
    /// Takes in a turn that was played.
    pub(super) fn observe(&mut self, deed: Deed, before: &Board, after: &Board) {
        let critical = self.common_critical(before);
        self.react(deed, before, after);
        self.note(deed, critical, before, after);
        self.settle(before, after);
    }

    /// Takes in what was done; to be settled afterwards.
    pub(super) fn react(&mut self, deed: Deed, before: &Board, after: &Board) {
        match deed {
            Deed::Play { slot } => {
                let id = before.hands[before.current].id(slot);
                self.reveal(id, after.face(id));
                self.look(after);
                if before.fits(after.face(id)) {
                    self.on_play(id);
                } else {
                    self.on_misplay(id, before, after);
                }
            }
            Deed::Discard { slot } => self.on_discard(slot, before, after),
            Deed::Hint { seat, hint, touched } => {
                self.look(after);
                let prior = self.prior(after, seat);
                self.on_hint(after, &Hinted::new(after, seat, hint, touched), &prior);
            }
            Deed::SomeHint => self.look(after),
        }
    }

    /// Brings beliefs in line with what was taken in. Returns whether the table makes sense.
    pub(super) fn settle(&mut self, before: &Board, after: &Board) -> bool {
        let is_consistent = self.is_consistent(after);
        if is_consistent {
            self.tidy(before, after);
        }
        is_consistent
    }

    /// Remembers how a turn that replaced a card left the table. A misplay says nothing.
    fn note(&mut self, deed: Deed, critical: CardSet, before: &Board, after: &Board) {
        let (seat, next) = (before.current, after.current);
        let is_noted = match deed {
            Deed::Discard { .. } => true,
            Deed::Play { .. } => after.score > before.score,
            Deed::Hint { .. } | Deed::SomeHint => false,
        };
        if !is_noted || after.tokens < PLENTY {
            return;
        }
        if after.tokens < MAX_TOKENS {
            let was_idle = self.common_plays(after, next, When::Now) == SlotSet(0);
            let (slot, _) = self.common_discard(after, next);
            let discard = after.hands[next].ids().get(slot).copied().unwrap_or(0);
            self.past.pauses[seat] = Pause { was_idle, discard, critical };
        }
        if matches!(deed, Deed::Discard { .. }) {
            for other in (0..after.players).filter(|&other| other != seat) {
                self.past.hintable[other] = after.hands[other].set;
            }
        }
    }

    /// The critical kinds that are not accounted for by what everybody knows.
    fn common_critical(&self, board: &Board) -> CardSet {
        board.prospects.critical & self.memory.common.unseen().some()
    }

    /// A card was added to its stack: the rest of its sequence goes on without it.
    fn on_play(&mut self, id: usize) {
        let belief = self.belief(id);
        if belief.is_play() {
            let rest = self.group(belief).filter(|other| other != id);
            self.believe(Idea::Play, &rest);
        }
    }

    /// A card did not fit. If it was believed to be playable, the rest of its sequence is kept
    /// from now on, unless the card was dead: then it was bad luck.
    fn on_misplay(&mut self, id: usize, before: &Board, after: &Board) {
        let belief = self.belief(id);
        if !belief.is_play() {
            return;
        }
        let group = *self.group(belief);
        if !after.face(id).meets(after.prospects.dead) {
            self.believe(Idea::Keep, &group);
        }
        // Never said to be playable later than others, it was perhaps meant to be protected, and
        // so were the cards that are older than its sequence.
        if self.belief(id).was_always_first() {
            let hand = &before.hands[before.current];
            let newest = hand.size().saturating_sub(1);
            let in_group = |id| group.set >> id & 1 == 1;
            let oldest = (0..newest).find(|&slot| in_group(hand.id(slot))).unwrap_or(newest);
            let older = (0..oldest).rev().map(|slot| hand.id(slot)).collect();
            self.believe(Idea::Keep, &older);
        }
    }

    fn on_discard(&mut self, slot: usize, before: &Board, after: &Board) {
        let seat = before.current;
        let id = before.hands[seat].id(slot);
        let expected = self.common_plays(before, seat, When::Now);
        let could_be = self.memory.common.of(id);
        let likely = self.common_discard(before, seat).0;
        self.reveal(id, after.face(id));
        self.look(after);
        self.end_sequence(id, after);
        if expected.contains(slot) {
            self.mark_copies(id, could_be & after.prospects.playable, before, after);
        } else if !after.face(id).meets(after.prospects.dead) {
            self.doubt_junk(id);
        }
        if after.tokens <= 1 && expected != SlotSet(0) && likely == slot {
            self.protect_next_discard(after);
        }
    }

    /// A discarded card will not be played: what could only have followed it does not any more.
    fn end_sequence(&mut self, id: usize, after: &Board) {
        let belief = self.belief(id);
        if !belief.is_play() {
            return;
        }
        let group = *self.group(belief);
        let mut left = Group::EMPTY;
        for (place, later) in group.iter().enumerate() {
            let possible = self.memory.common.of(later) - after.face(id);
            if place <= belief.place.into() {
                left.push(later);
            } else if possible.is_subset(after.prospects.dead) {
                self.believe(Idea::Junk, &Group::of(later));
            } else if !possible.meets(after.prospects.playable) {
                self.believe(Idea::Keep, &Group::of(later));
            } else {
                left.push(later);
            }
        }
        if left.len() != group.len() {
            self.believe(Idea::Play, &left);
        }
    }

    /// Junk that was none puts the other junk of its group in doubt.
    fn doubt_junk(&mut self, id: usize) {
        let belief = self.belief(id);
        if belief.idea == Idea::Junk {
            let group = *self.group(belief);
            self.believe(Idea::Keep, &group);
        }
    }

    /// Someone without tokens discarded rather than played: to have one for what the next player
    /// was about to discard.
    fn protect_next_discard(&mut self, after: &Board) {
        let (slot, _) = self.common_discard(after, after.current);
        let Some(&id) = after.hands[after.current].ids().get(slot) else { return };
        if !self.belief(id.into()).is_keep() {
            self.believe(Idea::Keep, &Group::of(id.into()));
        }
    }

    /// Someone discarded a playable card, which could have been one of these: someone else holds
    /// another copy and is to play it. For up to three players; a finesse does not count.
    fn mark_copies(&mut self, id: usize, cards: CardSet, before: &Board, after: &Board) {
        let is_finesse = self.belief(id).finesse().is_some();
        if after.players > 3 || is_finesse || cards.is_empty() {
            return;
        }
        for seat in self.seats_with(cards, before.current, after).iter() {
            let hand = after.hands[seat];
            let can_be = |id| self.memory.common.of(id).meets(cards);
            let newest = |touched: bool| {
                let mut ids = hand.newest_first().map(|(_, id)| id);
                ids.find(|&id| can_be(id) && (!touched || self.is_touched(id)))
            };
            if let Some(target) = newest(true).or_else(|| newest(false)) {
                self.mark_copy(id, target);
            }
        }
    }

    /// The seats that a discard of a playable card speaks to: the only other one that shows
    /// such a card, or those which the discarder cannot have seen it with.
    fn seats_with(&self, cards: CardSet, discarder: usize, after: &Board) -> SlotSet {
        let others = (0..after.players).filter(|&seat| seat != discarder);
        let all = SlotSet(others.clone().fold(0, |set, seat| set | 1 << seat));
        let shows = |seat: &usize| {
            let mut ids = after.hands[*seat].ids().iter();
            ids.any(|&id| self.seen(id.into()).meets(cards))
        };
        let showing = SlotSet(others.filter(shows).fold(0, |set, seat| set | 1 << seat));
        match showing.0.count_ones() {
            0 if after.observer == discarder => all,
            0 => SlotSet(1 << after.observer),
            1 => showing,
            _ => SlotSet(0),
        }
    }

    /// The copy takes the place of the discarded card.
    fn mark_copy(&mut self, discarded: usize, target: usize) {
        if self.memory.tops.first_plays >> target & 1 == 1 {
            return;
        }
        let belief = self.belief(discarded);
        let group = if belief.is_play() {
            self.group(belief).replace(belief.place.into(), target)
        } else {
            // As in the original, where only a discarded card that was part of a sequence is
            // replaced by its copy.
            Group::of(discarded)
        };
        self.believe(Idea::Play, &group);
    }
}
