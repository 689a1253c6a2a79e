//! The published lists.

/// Plays only cards that it knows to be playable, hints playable cards, otherwise discards the
/// oldest card.
pub const IGGI: &[&str] =
    &["play-certain", "play-safe", "hint-playable", "discard-osawa", "discard-oldest", "any-legal"];

/// IGGI that also plays at good odds, and at any odds in the last round.
pub const PIERS: &[&str] = &[
    "play-probably-safe 0 if deck_size = 0 and life_tokens > 1",
    "play-safe",
    "play-probably-safe 0.6 if life_tokens > 1",
    "hint-playable",
    "hint-dispensable if information_tokens < 3",
    "discard-osawa",
    "discard-oldest",
    "hint-randomly",
    "discard-randomly",
];

/// The best list of van den Bergh et al.
pub const VAN_DEN_BERGH: &[&str] = &[
    "play-probably-safe 0.6 if life_tokens > 1",
    "play-safe",
    "discard-probably-useless 0.99",
    "hint-playable",
    "hint-useless",
    "hint-most",
    "discard-probably-useless 0",
];

/// Osawa's player that takes into account what the others have been told.
pub const OUTER: &[&str] =
    &["play-safe", "discard-osawa", "hint-playable", "hint-unknown", "discard-randomly"];

/// Osawa's player that ignores what the others have been told.
pub const INTERNAL: &[&str] =
    &["play-safe", "discard-osawa", "hint-playable-randomly", "hint-randomly", "discard-randomly"];

/// Plays at poor odds, as a partner that one has to adapt to.
pub const FLAWED: &[&str] = &[
    "play-safe",
    "play-probably-safe 0.25",
    "hint-randomly",
    "discard-osawa",
    "discard-oldest",
    "discard-randomly",
];
