//! Rules that play a card.

use super::scene::Scene;
use crate::rules::Move;

fn play(slot: usize) -> Move {
    Move::Play { slot: slot as u8 }
}

/// The oldest card whose colour and rank were both named and which fits.
pub(super) fn certain(scene: &mut Scene<'_>) -> Option<Move> {
    let mut slots = scene.own_hand();
    let certain = slots
        .find(|(_, told)| told.suit && told.rank && told.plausible.is_subset(scene.piles.next));
    certain.map(|(slot, _)| play(slot))
}

/// The oldest card that fits whatever the hints leave plausible.
pub(super) fn safe(scene: &mut Scene<'_>) -> Option<Move> {
    let mut slots = scene.own_hand();
    let safe = slots.find(|(_, told)| told.plausible.is_subset(scene.piles.next));
    safe.map(|(slot, _)| play(slot))
}

/// The card that most probably fits, if it is at least this probable.
pub(super) fn probably_safe(scene: &mut Scene<'_>, least: f64) -> Option<Move> {
    let (slot, probability) = scene.most_probable(scene.piles.next)?;
    (probability >= least).then_some(play(slot))
}
