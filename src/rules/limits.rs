//! The supported ranges, which also fix the sizes of the arrays inside a position.

/// Maximum number of seats.
pub const MAX_PLAYERS: usize = 5;
/// Maximum number of suits (HLE: colours).
pub const MAX_COLORS: usize = 6;
/// Maximum number of ranks.
pub const MAX_RANKS: usize = 5;
/// Maximum number of cards in a hand.
pub const MAX_HAND_SIZE: usize = 6;
/// Maximum number of kinds of cards.
pub(crate) const MAX_CARD_KINDS: usize = MAX_COLORS * MAX_RANKS;
/// Maximum number of cards in the deck, so that a set of copies fits one word.
pub const MAX_CARDS: usize = 64;
