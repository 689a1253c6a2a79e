//! A card: its suit and its rank.

use serde::{Deserialize, Serialize};

use crate::rules::limits::{MAX_COLORS, MAX_RANKS};
use crate::rules::small_index::small_index;

/// The suit of a card, counted from 0 in HLE's order: red, yellow, green, white, blue, then
/// multicoloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Suit(u8);

/// The rank of a card, counted from 0 as in HLE; text shows ranks from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Rank(u8);

/// A card: a suit and a rank.
///
/// ```
/// use starmine::rules::{Card, Rank, Suit};
///
/// let card: Card = "G3".parse()?;
/// assert_eq!(card, Card::new(Suit::GREEN, Rank::THREE));
/// assert_eq!(card.to_string(), "G3");
/// assert!("G6".parse::<Card>().is_err() && Rank::try_from(5).is_err());
/// # Ok::<(), starmine::rules::NotationError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Card {
    /// The suit, from 0.
    pub suit: Suit,
    /// The rank, from 0.
    pub rank: Rank,
}

small_index!(Suit, MAX_COLORS, "suit");
small_index!(Rank, MAX_RANKS, "rank");

impl Suit {
    /// The suit that HLE calls red.
    pub const RED: Suit = Suit(0);
    /// The suit that HLE calls yellow.
    pub const YELLOW: Suit = Suit(1);
    /// The suit that HLE calls green.
    pub const GREEN: Suit = Suit(2);
    /// The suit that HLE calls white.
    pub const WHITE: Suit = Suit(3);
    /// The suit that HLE calls blue.
    pub const BLUE: Suit = Suit(4);
    /// The sixth suit, multicoloured cards, which HLE does not have.
    pub const MULTICOLOR: Suit = Suit(5);
}

impl Rank {
    /// The rank that text shows as 1, with index 0.
    pub const ONE: Rank = Rank(0);
    /// Rank 2, with index 1.
    pub const TWO: Rank = Rank(1);
    /// Rank 3, with index 2.
    pub const THREE: Rank = Rank(2);
    /// Rank 4, with index 3.
    pub const FOUR: Rank = Rank(3);
    /// Rank 5, with index 4.
    pub const FIVE: Rank = Rank(4);
}

impl Card {
    /// The card of this suit and rank.
    #[must_use]
    pub const fn new(suit: Suit, rank: Rank) -> Card {
        Card { suit, rank }
    }
}
