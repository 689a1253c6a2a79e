//! What bots of several families use: sets of cards of the base game, counts of copies, the choice of
//! the best candidate, and whether a discard costs a turn that is needed.

use crate::rules::Variant;

pub(in crate::bots) mod base_game;
pub(in crate::bots) mod copy_counts;

/// The candidate with the highest score, and its score; on ties the first.
pub(in crate::bots) fn first_best<T, S: PartialOrd>(
    rated: impl Iterator<Item = (T, S)>,
) -> Option<(T, S)> {
    rated.reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// Whether the deck is large enough for a discard after these discards, a set of copies: all missing
/// cards could still be played before the last round.
pub(in crate::bots) fn can_spare_turns(variant: &Variant, discards: u64) -> bool {
    let in_hands = u32::from(variant.players()) * u32::from(variant.hand_size());
    let discarded = discards.count_ones();
    discarded + in_hands + u32::from(variant.max_score()) <= variant.deck_size().into()
}
