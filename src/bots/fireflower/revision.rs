//! The revision of beliefs that common knowledge contradicts.

use super::beliefs::{BeliefKind, CardBelief, CardGroup};
use super::reasoner::Reasoner;
use super::seat_state::SeatState;
use crate::bots::common::base_game::above;
use crate::rules::BitIndices;

impl Reasoner<'_> {
    /// Revises the beliefs about all cards in hands.
    pub(super) fn revise(&mut self, before: &SeatState, after: &SeatState) {
        let mut visited = 0u64;
        for hand in after.all_hands() {
            while let Some(id) =
                BitIndices(hand.set & self.beliefs.tops.any() & !visited).next_back()
            {
                let belief = self.belief(id);
                visited |= self.group(belief).set | 1 << id;
                match belief.kind {
                    BeliefKind::None => {}
                    BeliefKind::Keep => self.revise_kept(after, belief),
                    BeliefKind::Junk => self.revise_junk(after, belief),
                    BeliefKind::Play => self.revise_sequence(after, belief),
                }
            }
        }
        for id in BitIndices(before.hands[before.current].set & self.beliefs.tops.finessed).rev() {
            self.give_up_finesse(before, id);
        }
    }

    /// Kept cards that turn out to be dead, or either playable or dead.
    fn revise_kept(&mut self, state: &SeatState, belief: CardBelief) {
        let status = &state.status;
        let common = &self.beliefs.common;
        let hopeless_or_due = status.playable | status.dead;
        let is_due = |id| common.of(id).is_subset(hopeless_or_due);
        if !self.group(belief).iter().any(is_due) {
            return;
        }
        let group = *self.group(belief);
        let is_dead = |id| common.of(id).is_subset(status.dead);
        let (dead, plays) = (group.filter(is_dead), group.filter(|id| is_due(id) && !is_dead(id)));
        let kept = group.filter(|id| !is_due(id));
        self.believe(BeliefKind::Junk, &dead);
        self.believe(BeliefKind::Play, &plays);
        self.believe(BeliefKind::Keep, &kept);
    }

    /// Junk cards that turn out to be critical.
    fn revise_junk(&mut self, state: &SeatState, belief: CardBelief) {
        let is_critical = |id| self.beliefs.common.of(id).is_subset(state.status.critical);
        if !self.group(belief).iter().any(is_critical) {
            return;
        }
        let group = *self.group(belief);
        let (critical, junk) = (group.filter(is_critical), group.filter(|id| !is_critical(id)));
        self.believe(BeliefKind::Junk, &junk);
        self.believe(BeliefKind::Keep, &critical);
    }

    /// Cards of a sequence that turn out not to be playable after the cards before them. Only then
    /// do cards with a newer belief leave the sequence too.
    fn revise_sequence(&mut self, state: &SeatState, belief: CardBelief) {
        let out = self.unplayable_in_sequence(state, belief);
        if out == 0 {
            return;
        }
        let group = *self.group(belief);
        let is_dead = |id| self.beliefs.common.of(id).is_subset(state.status.dead);
        let [mut plays, mut kept, mut junk] = [CardGroup::EMPTY; 3];
        for (place, id) in group.iter().enumerate() {
            if out >> place & 1 == 0 {
                if self.belief(id).shares_group(belief) {
                    plays.push(id);
                }
            } else if is_dead(id) {
                junk.push(id);
            } else {
                kept.push(id);
            }
        }
        self.believe(BeliefKind::Play, &plays);
        self.believe(BeliefKind::Keep, &kept);
        self.believe(BeliefKind::Junk, &junk);
    }

    /// The places in a sequence of the cards that are not playable after the cards before them.
    fn unplayable_in_sequence(&self, state: &SeatState, belief: CardBelief) -> u32 {
        let mut reached = state.status.playable;
        let mut out = 0;
        for (place, id) in self.group(belief).iter().enumerate() {
            if self.belief(id).shares_group(belief) {
                let playable = self.beliefs.common.of(id) & reached;
                reached |= above(playable);
                out |= u32::from(playable.is_empty()) << place;
            }
        }
        out
    }

    /// A player did not play a finessed card although it was playable: the finesse is dropped.
    fn give_up_finesse(&mut self, before: &SeatState, id: usize) {
        loop {
            let belief = self.belief(id);
            let Some(card) = belief.finesse() else { return };
            if !before.status.playable.contains(card) {
                return;
            }
            let rest = self.group(belief).filter(|other| other != id);
            self.remove_belief(id);
            self.believe(BeliefKind::Play, &rest);
        }
    }
}
