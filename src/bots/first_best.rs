//! The choice of the best candidate.

/// The candidate with the highest score, and its score; on ties the first.
pub(super) fn first_best<T, S: PartialOrd>(rated: impl Iterator<Item = (T, S)>) -> Option<(T, S)> {
    rated.reduce(|best, next| if next.1 > best.1 { next } else { best })
}
