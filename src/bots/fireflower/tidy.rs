//! Beliefs that what is known to all has overtaken.

use super::beliefs::{Belief, Group, Idea};
use super::board::{Board, Newest};
use super::cards::above;
use super::mind::Mind;

impl Mind<'_> {
    /// Brings the beliefs about all cards in hands in line with what is known.
    pub(super) fn tidy(&mut self, before: &Board, after: &Board) {
        let mut visited = 0u64;
        for hand in after.all_hands() {
            while let Some(id) = Newest(hand.set & self.memory.tops.any() & !visited).next() {
                let belief = self.belief(id);
                visited |= self.group(belief).set | 1 << id;
                match belief.idea {
                    Idea::None => {}
                    Idea::Keep => self.tidy_kept(after, belief),
                    Idea::Junk => self.tidy_junk(after, belief),
                    Idea::Play => self.tidy_sequence(after, belief),
                }
            }
        }
        for id in Newest(before.hands[before.current].set & self.memory.tops.finessed) {
            self.give_up_finesse(before, id);
        }
    }

    /// Kept cards turn out to be dead, or playable unless they are dead.
    fn tidy_kept(&mut self, board: &Board, belief: Belief) {
        let prospects = &board.prospects;
        let common = &self.memory.common;
        let hopeless_or_due = prospects.playable | prospects.dead;
        let is_due = |id| common.of(id).is_subset(hopeless_or_due);
        if !self.group(belief).iter().any(is_due) {
            return;
        }
        let group = *self.group(belief);
        let is_dead = |id| common.of(id).is_subset(prospects.dead);
        let (dead, plays) = (group.filter(is_dead), group.filter(|id| is_due(id) && !is_dead(id)));
        let kept = group.filter(|id| !is_due(id));
        self.believe(Idea::Junk, &dead);
        self.believe(Idea::Play, &plays);
        self.believe(Idea::Keep, &kept);
    }

    /// Junk turns out to be critical.
    fn tidy_junk(&mut self, board: &Board, belief: Belief) {
        let is_critical = |id| self.memory.common.of(id).is_subset(board.prospects.critical);
        if !self.group(belief).iter().any(is_critical) {
            return;
        }
        let group = *self.group(belief);
        let (critical, junk) = (group.filter(is_critical), group.filter(|id| !is_critical(id)));
        self.believe(Idea::Junk, &junk);
        self.believe(Idea::Keep, &critical);
    }

    /// Cards of a sequence turn out not to be playable after those that come first. Cards that
    /// another belief has taken out of the sequence leave it only then.
    fn tidy_sequence(&mut self, board: &Board, belief: Belief) {
        let out = self.unplayable_in_sequence(board, belief);
        if out == 0 {
            return;
        }
        let group = *self.group(belief);
        let is_dead = |id| self.memory.common.of(id).is_subset(board.prospects.dead);
        let [mut plays, mut kept, mut junk] = [Group::EMPTY; 3];
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
        self.believe(Idea::Play, &plays);
        self.believe(Idea::Keep, &kept);
        self.believe(Idea::Junk, &junk);
    }

    /// The places in a sequence of the cards that cannot be played after those that come first.
    fn unplayable_in_sequence(&self, board: &Board, belief: Belief) -> u32 {
        let mut reached = board.prospects.playable;
        let mut out = 0;
        for (place, id) in self.group(belief).iter().enumerate() {
            if self.belief(id).shares_group(belief) {
                let playable = self.memory.common.of(id) & reached;
                reached |= above(playable);
                out |= u32::from(playable.is_empty()) << place;
            }
        }
        out
    }

    /// A player who could play a finessed card and did not knows better.
    fn give_up_finesse(&mut self, before: &Board, id: usize) {
        loop {
            let belief = self.belief(id);
            let Some(card) = belief.finesse() else { return };
            if !before.prospects.playable.contains(card) {
                return;
            }
            let rest = self.group(belief).filter(|other| other != id);
            self.lift(id);
            self.believe(Idea::Play, &rest);
        }
    }
}
