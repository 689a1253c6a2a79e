//! Rules that discard a card.

use super::scene::Scene;
use crate::rules::Move;

fn discard(slot: usize) -> Move {
    Move::Discard { slot: slot as u8 }
}

/// The oldest card that the named colour and rank, taken together, make dead for sure, or else the
/// oldest whose plausible cards are all blocked.
///
/// A card that may be blocked or on its stack already is passed over unless a hint named both its
/// colour and its rank, as it is in the figures that were published.
pub(super) fn osawa(scene: &mut Scene<'_>) -> Option<Move> {
    if !scene.may_discard() {
        return None;
    }
    let piles = scene.piles;
    let dead = piles.dead();
    let mut blocked = None;
    for (slot, told) in scene.own_hand() {
        if !told.plausible.is_subset(dead) {
            continue;
        }
        // What was named of a card is so of all that it may be.
        let one = scene.any_of(told.plausible)?;
        let is_known = told.suit && (told.rank || scene.is_suit_complete(one));
        if is_known || told.rank && scene.is_rank_complete(one) {
            return Some(discard(slot));
        }
        if blocked.is_none() && told.plausible.is_subset(piles.blocked) {
            blocked = Some(discard(slot));
        }
    }
    blocked
}

/// The oldest card.
pub(super) fn oldest(scene: &mut Scene<'_>) -> Option<Move> {
    (scene.may_discard() && scene.view.hand_size(0) > 0).then_some(discard(0))
}

/// Any card.
pub(super) fn randomly(scene: &mut Scene<'_>) -> Option<Move> {
    let size = scene.view.hand_size(0);
    (scene.may_discard() && size > 0).then(|| discard(scene.rng.below(size as u32) as usize))
}

/// The card that is most probably dead, if it is at least this probable.
pub(super) fn probably_useless(scene: &mut Scene<'_>, least: f64) -> Option<Move> {
    if !scene.may_discard() {
        return None;
    }
    let (slot, probability) = scene.most_probable(scene.piles.dead())?;
    (probability >= least).then_some(discard(slot))
}
