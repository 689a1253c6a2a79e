//! Rules that play a card.

use super::context::RuleContext;
use crate::rules::{Move, Slot};

fn play(slot: usize) -> Move {
    Move::Play { slot: Slot::new_unchecked(slot) }
}

/// The oldest card whose colour and rank were both hinted and which is playable.
pub(super) fn certain(context: &mut RuleContext<'_>) -> Option<Move> {
    let mut slots = context.own_hand();
    let certain = slots.find(|(_, hints)| {
        hints.suit && hints.rank && hints.plausible.is_subset(context.open.next)
    });
    certain.map(|(slot, _)| play(slot))
}

/// The oldest card whose plausible kinds are all playable.
pub(super) fn safe(context: &mut RuleContext<'_>) -> Option<Move> {
    let mut slots = context.own_hand();
    let safe = slots.find(|(_, hints)| hints.plausible.is_subset(context.open.next));
    safe.map(|(slot, _)| play(slot))
}

/// The card that is most likely playable, if its probability is at least `least`.
pub(super) fn probably_safe(context: &mut RuleContext<'_>, least: f64) -> Option<Move> {
    let (slot, probability) = context.most_probable(context.open.next)?;
    (probability >= least).then_some(play(slot))
}
