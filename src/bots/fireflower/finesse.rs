//! Finesses: a hint at a card that is one step from playable says that a player in between has
//! the missing card.

use super::beliefs::Group;
use super::board::{Board, Hand};
use super::cards::below;
use super::mind::Mind;
use crate::rules::CardSet;

impl Mind<'_> {
    /// Believes in the finesse of a hint at these cards of this seat, if it is one.
    pub(super) fn finesse(&mut self, board: &Board, seat: usize, ids: &Group) {
        // The player after the hinter has nobody in between; one's own card cannot be judged.
        if seat == board.current || seat == board.observer {
            return;
        }
        let Some(base) = self.finesse_base(board, ids) else { return };
        let belief = self.belief(base);
        let is_ready = match belief.is_play() {
            true => belief.place == 0,
            false => !belief.is_junk(),
        };
        let Some(card) = below(self.seen(base)).single() else { return };
        if !is_ready {
            return;
        }
        let between = board.seats_in_turn().take_while(|&other| other != seat);
        let targets = between.filter_map(|other| self.finesse_target(&board.hands[other], card));
        let targets: Group = targets.collect();
        self.believe_targets(&targets, base, card);
    }

    /// The card that is one step from playable, if the hinted player can tell which it is.
    fn finesse_base(&self, board: &Board, ids: &Group) -> Option<usize> {
        let one_away = board.one_away();
        let possible = |id| self.memory.common.of(id);
        let is_one_away = |id| self.seen(id).meets(one_away);
        let known = |&id: &usize| possible(id).single().is_some() && is_one_away(id);
        ids.iter().find(known).or_else(|| {
            let first = ids.iter().find(|&id| possible(id).meets(one_away));
            first.filter(|&id| is_one_away(id))
        })
    }

    /// The card of a hand that a finesse for this kind means: the newest kept one that it can
    /// be, or else the newest of which nothing is believed. None if there is a play that it can
    /// be.
    fn finesse_target(&self, hand: &Hand, card: usize) -> Option<usize> {
        let can_be = |id| self.memory.common.of(id).contains(card);
        let mut ids = hand.newest_first().map(|(_, id)| id).filter(|&id| can_be(id));
        let ids: Group = ids.by_ref().collect();
        if ids.iter().any(|id| self.belief(id).is_play()) {
            return None;
        }
        let kept = ids.iter().find(|&id| self.belief(id).is_keep());
        kept.or_else(|| ids.iter().find(|&id| !self.belief(id).is_any()))
    }

    /// The finesse means the only target that fits; or else the one that the observer does not
    /// see; or else all, as those who do not see theirs will think.
    fn believe_targets(&mut self, targets: &Group, base: usize, card: usize) {
        let fits = |id: &usize| self.seen(*id) == CardSet::of(card);
        let mut fitting = targets.iter().filter(fits);
        let meant = match (fitting.next(), fitting.next()) {
            (Some(_), Some(_)) => Group::EMPTY,
            (Some(id), None) => Group::of(id),
            _ => match targets.iter().find(|&id| !self.is_seen(id)) {
                Some(id) => Group::of(id),
                None => *targets,
            },
        };
        for target in meant.iter() {
            self.believe_finesse(target, base, card);
        }
    }
}
