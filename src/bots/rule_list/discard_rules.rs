//! Rules that discard a card.

use super::context::RuleContext;
use crate::rules::{Move, Offset, Slot};

fn discard(slot: usize) -> Move {
    Move::Discard { slot: Slot::new_unchecked(slot) }
}

/// The oldest card whose plausible kinds are all dead and of which colour and rank were hinted, or a
/// hinted colour or rank is complete. If there is none, the oldest card whose plausible kinds are all
/// blocked.
///
/// Other dead cards are skipped, as in the implementation behind the published figures.
pub(super) fn osawa(context: &mut RuleContext<'_>) -> Option<Move> {
    if !context.view.may_discard() {
        return None;
    }
    let open = context.open;
    let dead = open.dead();
    let mut blocked = None;
    for (slot, hints) in context.own_hand() {
        if !hints.plausible.is_subset(dead) {
            continue;
        }
        // All plausible kinds share the hinted colour and rank, so any one of them will do.
        let one = context.any_of(hints.plausible)?;
        let is_known = hints.suit && (hints.rank || context.is_suit_complete(one));
        if is_known || hints.rank && context.is_rank_complete(one) {
            return Some(discard(slot));
        }
        if blocked.is_none() && hints.plausible.is_subset(open.blocked) {
            blocked = Some(discard(slot));
        }
    }
    blocked
}

/// The oldest card.
pub(super) fn oldest(context: &mut RuleContext<'_>) -> Option<Move> {
    (context.view.may_discard() && context.view.hand_size(Offset::OWN) > 0).then_some(discard(0))
}

/// A random card.
pub(super) fn randomly(context: &mut RuleContext<'_>) -> Option<Move> {
    let size = context.view.hand_size(Offset::OWN);
    (context.view.may_discard() && size > 0)
        .then(|| discard(context.rng.below(size as u32) as usize))
}

/// The card that is most likely dead, if its probability is at least `least`.
pub(super) fn probably_useless(context: &mut RuleContext<'_>, least: f64) -> Option<Move> {
    if !context.view.may_discard() {
        return None;
    }
    let (slot, probability) = context.most_probable(context.open.dead())?;
    (probability >= least).then_some(discard(slot))
}
