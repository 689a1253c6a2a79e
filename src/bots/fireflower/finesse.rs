//! Finesses: a hint that touches a card one step from playable means that a player in between holds
//! the missing card.

use super::beliefs::{BeliefKind, CardGroup};
use super::reasoner::Reasoner;
use super::seat_state::{HandCards, SeatState};
use crate::bots::common::base_game::below;
use crate::rules::CardSet;

impl Reasoner<'_> {
    /// Adds the belief in a finesse, if a hint that touched these cards of this seat is one.
    pub(super) fn finesse(&mut self, state: &SeatState, seat: usize, ids: &CardGroup) {
        // There is nobody between the hinting player and the next; the observer cannot see its own
        // cards.
        if seat == state.current || seat == state.observer {
            return;
        }
        let Some(base) = self.finesse_base(state, ids) else { return };
        let belief = self.belief(base);
        let is_ready = match belief.is_play() {
            true => belief.place == 0,
            false => belief.kind != BeliefKind::Junk,
        };
        let Some(card) = below(self.seen(base)).single() else { return };
        if !is_ready {
            return;
        }
        let between = state.seats_in_turn().take_while(|&other| other != seat);
        let targets = between.filter_map(|other| self.finesse_target(&state.hands[other], card));
        let targets: CardGroup = targets.collect();
        self.believe_targets(&targets, base, card);
    }

    /// The card one step from playable, if the hinted player can identify it.
    fn finesse_base(&self, state: &SeatState, ids: &CardGroup) -> Option<usize> {
        let one_away = state.one_away();
        let possible = |id| self.beliefs.common.of(id);
        let is_one_away = |id| self.seen(id).intersects(one_away);
        let known = |&id: &usize| possible(id).single().is_some() && is_one_away(id);
        ids.iter().find(known).or_else(|| {
            let first = ids.iter().find(|&id| possible(id).intersects(one_away));
            first.filter(|&id| is_one_away(id))
        })
    }

    /// The card of a hand that a finesse for this kind targets: the newest kept card that may be of
    /// the kind, otherwise the newest such card without a belief. `None` if a card with a play
    /// belief may be of the kind.
    fn finesse_target(&self, hand: &HandCards, card: usize) -> Option<usize> {
        let can_be = |id| self.beliefs.common.of(id).contains(card);
        let mut ids = hand.newest_first().map(|(_, id)| id).filter(|&id| can_be(id));
        let ids: CardGroup = ids.by_ref().collect();
        if ids.iter().any(|id| self.belief(id).is_play()) {
            return None;
        }
        let kept = ids.iter().find(|&id| self.belief(id).is_keep());
        kept.or_else(|| ids.iter().find(|&id| self.belief(id).kind == BeliefKind::None))
    }

    /// Adds the belief about the only target that is of the kind; otherwise about the one that the
    /// observer does not see; otherwise about all, since each owner will believe it.
    fn believe_targets(&mut self, targets: &CardGroup, base: usize, card: usize) {
        let fits = |id: &usize| self.seen(*id) == CardSet::of(card);
        let mut fitting = targets.iter().filter(fits);
        let meant = match (fitting.next(), fitting.next()) {
            (Some(_), Some(_)) => CardGroup::EMPTY,
            (Some(id), None) => CardGroup::of(id),
            _ => match targets.iter().find(|&id| !self.is_seen(id)) {
                Some(id) => CardGroup::of(id),
                None => *targets,
            },
        };
        for target in meant.iter() {
            self.believe_finesse(target, base, card);
        }
    }
}
