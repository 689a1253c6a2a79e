//! Rules that give a hint.

use super::scene::{Scene, Seen};
use crate::rules::Move;

/// The teammate that the rules for one hand look at.
const NEXT_PLAYER: usize = 1;

/// About a playable card: the rank if its player was not told that, or else the colour.
pub(super) fn playable(scene: &mut Scene<'_>) -> Option<Move> {
    if !scene.may_hint() {
        return None;
    }
    let mut playable = scene.hands().filter(|seen| scene.piles.next.contains(seen.kind));
    playable.find_map(
        |seen| {
            if !seen.told.rank { Some(seen.tell_rank()) } else { tell_missing(seen) }
        },
    )
}

/// About the first playable card, whatever its player was told.
pub(super) fn playable_randomly(scene: &mut Scene<'_>) -> Option<Move> {
    if !scene.may_hint() {
        return None;
    }
    let seen = scene.hands().find(|seen| scene.piles.next.contains(seen.kind))?;
    Some(tell_either(scene, seen))
}

/// About a dead card: the colour if its player was not told that, or else the rank.
pub(super) fn useless(scene: &mut Scene<'_>) -> Option<Move> {
    if !scene.may_hint() {
        return None;
    }
    let dead = scene.piles.dead();
    scene.hands().filter(|seen| dead.contains(seen.kind)).find_map(tell_missing)
}

/// Whatever shows at once that a card is on its stack already.
pub(super) fn dispensable(scene: &mut Scene<'_>) -> Option<Move> {
    if !scene.may_hint() {
        return None;
    }
    let piles = scene.piles;
    scene.hands().filter(|seen| piles.played.contains(seen.kind)).find_map(|seen| {
        let told = seen.told;
        if !told.suit && scene.is_suit_complete(seen.card) {
            Some(seen.tell_suit())
        } else if !told.rank && scene.is_rank_complete(seen.card) {
            Some(seen.tell_rank())
        } else if told.suit != told.rank {
            tell_missing(seen)
        } else {
            None
        }
    })
}

/// The hint that points out the most cards, whatever their players were told. Of several the
/// first: the next player's, that of the oldest card, the colour.
pub(super) fn most(scene: &mut Scene<'_>) -> Option<Move> {
    if !scene.may_hint() {
        return None;
    }
    let (mut best, mut most) = (None, 0);
    for offset in 1..usize::from(scene.view.variant().players()) {
        // A byte for each suit and for each rank.
        let (mut suits, mut ranks) = (0u64, 0u64);
        for seen in scene.hand(offset) {
            suits += 1 << (8 * seen.card.suit.index());
            ranks += 1 << (8 * seen.card.rank.index());
        }
        for seen in scene.hand(offset) {
            let touched = suits >> (8 * seen.card.suit.index()) & 0xff;
            if touched > most {
                (best, most) = (Some(seen.tell_suit()), touched);
            }
            let touched = ranks >> (8 * seen.card.rank.index()) & 0xff;
            if touched > most {
                (best, most) = (Some(seen.tell_rank()), touched);
            }
        }
    }
    best
}

/// About the next player's oldest card that is not known: the colour if that was not told, or else
/// the rank.
pub(super) fn unknown(scene: &mut Scene<'_>) -> Option<Move> {
    if !scene.may_hint() {
        return None;
    }
    scene.hand(NEXT_PLAYER).find_map(tell_missing)
}

/// About any card of the next player, whatever was told.
pub(super) fn randomly(scene: &mut Scene<'_>) -> Option<Move> {
    let size = scene.view.hand_size(NEXT_PLAYER);
    if !scene.may_hint() || size == 0 {
        return None;
    }
    let slot = scene.rng.below(size as u32) as usize;
    let seen = scene.hand(NEXT_PLAYER).nth(slot)?;
    Some(tell_either(scene, seen))
}

/// The colour if it was not told, or else the rank.
fn tell_missing(seen: Seen) -> Option<Move> {
    if !seen.told.suit {
        Some(seen.tell_suit())
    } else if !seen.told.rank {
        Some(seen.tell_rank())
    } else {
        None
    }
}

/// The rank or the colour, as likely as each other.
fn tell_either(scene: &mut Scene<'_>, seen: Seen) -> Move {
    if scene.rng.below(2) == 0 { seen.tell_rank() } else { seen.tell_suit() }
}
