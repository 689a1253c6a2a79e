//! Rules that give a hint.

use super::context::{RuleContext, TeammateCard};
use crate::rules::{Move, Offset};

/// A playable card: its rank if that was not hinted, otherwise its colour.
pub(super) fn playable(context: &mut RuleContext<'_>) -> Option<Move> {
    if !context.view.may_hint() {
        return None;
    }
    let mut playable = context.hands().filter(|card| context.open.next.contains(card.kind));
    playable.find_map(
        |card| {
            if !card.hints.rank { Some(card.tell_rank()) } else { tell_missing(card) }
        },
    )
}

/// The first playable card, whatever was hinted about it.
pub(super) fn playable_randomly(context: &mut RuleContext<'_>) -> Option<Move> {
    if !context.view.may_hint() {
        return None;
    }
    let card = context.hands().find(|card| context.open.next.contains(card.kind))?;
    Some(tell_either(context, card))
}

/// A dead card: its colour if that was not hinted, otherwise its rank.
pub(super) fn useless(context: &mut RuleContext<'_>) -> Option<Move> {
    if !context.view.may_hint() {
        return None;
    }
    let dead = context.open.dead();
    context.hands().filter(|card| dead.contains(card.kind)).find_map(tell_missing)
}

/// A played card, by a hint that makes it known to be dead.
pub(super) fn dispensable(context: &mut RuleContext<'_>) -> Option<Move> {
    if !context.view.may_hint() {
        return None;
    }
    let open = context.open;
    context.hands().filter(|card| open.played.contains(card.kind)).find_map(|card| {
        let hints = card.hints;
        if !hints.suit && context.is_suit_complete(card.card) {
            Some(card.tell_suit())
        } else if !hints.rank && context.is_rank_complete(card.card) {
            Some(card.tell_rank())
        } else if hints.suit != hints.rank {
            tell_missing(card)
        } else {
            None
        }
    })
}

/// The hint that touches the most cards, whatever was hinted about them. On ties the first by
/// offset, then by slot, colours before ranks.
pub(super) fn most(context: &mut RuleContext<'_>) -> Option<Move> {
    if !context.view.may_hint() {
        return None;
    }
    let (mut best, mut most) = (None, 0);
    for offset in context.view.variant().teammates() {
        // One byte for each suit and for each rank.
        let (mut suits, mut ranks) = (0u64, 0u64);
        for card in context.hand(offset) {
            suits += 1 << (8 * card.card.suit.index());
            ranks += 1 << (8 * card.card.rank.index());
        }
        for card in context.hand(offset) {
            let touched = suits >> (8 * card.card.suit.index()) & 0xff;
            if touched > most {
                (best, most) = (Some(card.tell_suit()), touched);
            }
            let touched = ranks >> (8 * card.card.rank.index()) & 0xff;
            if touched > most {
                (best, most) = (Some(card.tell_rank()), touched);
            }
        }
    }
    best
}

/// The next player's oldest card that is not fully hinted: its colour if that was not hinted,
/// otherwise its rank.
pub(super) fn unknown(context: &mut RuleContext<'_>) -> Option<Move> {
    if !context.view.may_hint() {
        return None;
    }
    context.hand(Offset::NEXT).find_map(tell_missing)
}

/// A random card of the next player, whatever was hinted about it.
pub(super) fn randomly(context: &mut RuleContext<'_>) -> Option<Move> {
    let size = context.view.hand_size(Offset::NEXT);
    if !context.view.may_hint() || size == 0 {
        return None;
    }
    let slot = context.rng.below(size as u32) as usize;
    let card = context.hand(Offset::NEXT).nth(slot)?;
    Some(tell_either(context, card))
}

/// The colour if it was not hinted, otherwise the rank.
fn tell_missing(card: TeammateCard) -> Option<Move> {
    if !card.hints.suit {
        Some(card.tell_suit())
    } else if !card.hints.rank {
        Some(card.tell_rank())
    } else {
        None
    }
}

/// The rank or the colour, with equal probability.
fn tell_either(context: &mut RuleContext<'_>, card: TeammateCard) -> Move {
    if context.rng.below(2) == 0 { card.tell_rank() } else { card.tell_suit() }
}
