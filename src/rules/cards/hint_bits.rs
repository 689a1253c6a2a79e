//! What the hints say about one card, in one word.

use serde::{Deserialize, Serialize};

use crate::rules::cards::card::{Card, Rank, Suit};
use crate::rules::cards::kind_set::KindSet;
use crate::rules::turns::hint::Hint;
use crate::rules::variants::variant::Variant;

/// What the hints given so far say about one card, as [`Knowledge`](crate::rules::Knowledge), in the layout
/// of a variant.
///
/// One word in the order of the canonical encoders: the plausible cards (`colors * ranks` bits),
/// the hinted colour (`colors` bits), the hinted rank (`ranks` bits).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HintBits(pub(crate) u64);

impl HintBits {
    /// The knowledge of a card without hints.
    #[must_use]
    pub fn unhinted(variant: &Variant) -> HintBits {
        HintBits(variant.tables().all_cards)
    }

    /// The knowledge of a card whose colour and rank have both been hinted.
    #[must_use]
    pub fn full(variant: &Variant, card: Card) -> HintBits {
        HintBits::unhinted(variant).with_hint(variant, Hint::Color(card.suit), true).with_hint(
            variant,
            Hint::Rank(card.rank),
            true,
        )
    }

    /// The knowledge after a hint to the hand, which touches the card or not.
    #[must_use]
    pub fn with_hint(self, variant: &Variant, hint: Hint, touched: bool) -> HintBits {
        let tables = variant.tables();
        let (cards, hinted) = match hint {
            Hint::Color(suit) => {
                (tables.suit_cards[suit.index()], variant.num_card_kinds() + suit.index())
            }
            Hint::Rank(rank) => (
                tables.rank_cards[rank.index()],
                variant.num_card_kinds() + usize::from(variant.colors()) + rank.index(),
            ),
        };
        if touched {
            HintBits(self.0 & !(tables.all_cards & !cards) | 1 << hinted)
        } else {
            HintBits(self.0 & !cards)
        }
    }

    /// The word itself.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether the hints allow this card.
    ///
    /// # Panics
    /// If the variant does not have the card.
    #[must_use]
    pub const fn is_plausible(self, variant: &Variant, card: Card) -> bool {
        self.0 >> variant.card_index(card) & 1 == 1
    }

    /// The kinds of cards that the hints allow.
    #[must_use]
    pub fn plausible_kinds(self, variant: &Variant) -> KindSet {
        KindSet(self.0 & variant.tables().all_cards)
    }

    /// Whether a hint named the card's colour.
    #[must_use]
    pub const fn is_suit_hinted(self, variant: &Variant) -> bool {
        self.0 & variant.tables().hinted_suits != 0
    }

    /// Whether a hint named the card's rank.
    #[must_use]
    pub const fn is_rank_hinted(self, variant: &Variant) -> bool {
        self.0 & variant.tables().hinted_ranks != 0
    }

    /// The colour, if a hint named it.
    #[must_use]
    pub fn hinted_suit(self, variant: &Variant) -> Option<Suit> {
        let base = variant.num_card_kinds();
        variant.all_suits().find(|suit| self.0 >> (base + suit.index()) & 1 == 1)
    }

    /// The rank, if a hint named it.
    #[must_use]
    pub fn hinted_rank(self, variant: &Variant) -> Option<Rank> {
        let base = variant.num_card_kinds() + usize::from(variant.colors());
        variant.all_ranks().find(|rank| self.0 >> (base + rank.index()) & 1 == 1)
    }
}
