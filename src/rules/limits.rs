//! The supported ranges, which also fix the sizes of the arrays inside a position.

/// Most seats at a table.
pub const MAX_PLAYERS: usize = 5;
/// Most suits (HLE: colours).
pub const MAX_COLORS: usize = 6;
/// Most ranks in a suit.
pub const MAX_RANKS: usize = 5;
/// Most cards in a hand.
pub const MAX_HAND_SIZE: usize = 6;
/// Most different cards.
pub(crate) const MAX_CARD_KINDS: usize = MAX_COLORS * MAX_RANKS;
/// Most cards in the whole deck, so that a set of cards fits one word.
pub const MAX_CARDS: usize = 64;
