//! The published lists.

/// Plays only what it knows, hints what is playable, and else discards the oldest card.
pub const IGGI: &[&str] =
    &["play-certain", "play-safe", "hint-playable", "discard-osawa", "discard-oldest", "any-legal"];

/// IGGI with a taste for good odds, and for any odds in the last round.
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

/// The best list that van den Bergh and others found.
pub const VAN_DEN_BERGH: &[&str] = &[
    "play-probably-safe 0.6 if life_tokens > 1",
    "play-safe",
    "discard-probably-useless 0.99",
    "hint-playable",
    "hint-useless",
    "hint-most",
    "discard-probably-useless 0",
];

/// Osawa's player that minds what the others have been told.
pub const OUTER: &[&str] =
    &["play-safe", "discard-osawa", "hint-playable", "hint-unknown", "discard-randomly"];

/// Osawa's player that minds only the cards themselves.
pub const INTERNAL: &[&str] =
    &["play-safe", "discard-osawa", "hint-playable-randomly", "hint-randomly", "discard-randomly"];

/// Plays at poor odds: a partner that one has to adapt to.
pub const FLAWED: &[&str] = &[
    "play-safe",
    "play-probably-safe 0.25",
    "hint-randomly",
    "discard-osawa",
    "discard-oldest",
    "discard-randomly",
];
