//! What bots of several families use: sets of cards of the base game, counts of copies, and the choice
//! of the best candidate.

pub(in crate::bots) mod base_game;
pub(in crate::bots) mod copy_counts;

/// The candidate with the highest score, and its score; on ties the first.
pub(in crate::bots) fn first_best<T, S: PartialOrd>(
    rated: impl Iterator<Item = (T, S)>,
) -> Option<(T, S)> {
    rated.reduce(|best, next| if next.1 > best.1 { next } else { best })
}
