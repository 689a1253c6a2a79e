//! What the hints say about one card.

use serde::{Deserialize, Serialize};

use crate::rules::cards::card::{Card, Rank, Suit};
use crate::rules::cards::card_set::CardSet;
use crate::rules::turns::hint::Hint;
use crate::rules::variants::variant::Variant;

/// What the hints given so far say about one card of a game. Methods take the variant of the game.
///
/// ```
/// use starmine::rules::{EpisodeSeed, Offset, Seat, Slot, State, Suit, Variant};
///
/// let mut state = State::new(Variant::default(), EpisodeSeed::new(7));
/// state.play("hint +1 yellow".parse()?)?;
/// let view = state.view(Seat::ALL[1]);
/// for (slot, known) in Slot::ALL.into_iter().zip(view.hand_knowledge(Offset::OWN)) {
///     let is_yellow = known.hinted_suit(view.variant()) == Some(Suit::YELLOW);
///     let plausible = known.plausible(view.variant()).len();
///     println!("slot {slot}: {plausible} plausible cards, yellow: {is_yellow}");
/// }
/// assert!(view.knowledge(Offset::OWN, Slot::ALL[5]).is_none(), "a hand of five has no slot 5");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knowledge(pub(crate) u64);

impl Knowledge {
    /// The knowledge of a card without hints.
    #[must_use]
    pub(crate) fn unhinted(variant: &Variant) -> Knowledge {
        Knowledge(variant.tables().all_cards)
    }

    /// The knowledge of a card whose colour and rank have both been hinted.
    #[must_use]
    pub(crate) fn full(variant: &Variant, card: Card) -> Knowledge {
        Knowledge::unhinted(variant).with_hint(variant, Hint::Color(card.suit), true).with_hint(
            variant,
            Hint::Rank(card.rank),
            true,
        )
    }

    /// The knowledge after a hint to the hand, which touches the card or not.
    #[must_use]
    pub(crate) fn with_hint(self, variant: &Variant, hint: Hint, touched: bool) -> Knowledge {
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
            Knowledge(self.0 & !(tables.all_cards & !cards) | 1 << hinted)
        } else {
            Knowledge(self.0 & !cards)
        }
    }

    /// The knowledge as a word in the order of the canonical encoders: the plausible cards
    /// (`colors * ranks` bits), the hinted colour (`colors` bits), the hinted rank (`ranks` bits).
    #[must_use]
    #[inline]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether the hints allow this card.
    #[must_use]
    #[inline]
    pub const fn is_plausible(self, variant: &Variant, card: Card) -> bool {
        variant.has_card(card) && self.0 >> variant.card_index_unchecked(card) & 1 == 1
    }

    /// The cards that the hints allow.
    #[must_use]
    #[inline]
    pub fn plausible(self, variant: &Variant) -> CardSet {
        CardSet(self.0 & variant.tables().all_cards)
    }

    /// Whether a hint named the card's colour.
    #[must_use]
    #[inline]
    pub(crate) const fn is_suit_hinted(self, variant: &Variant) -> bool {
        self.0 & variant.tables().hinted_suits != 0
    }

    /// Whether a hint named the card's rank.
    #[must_use]
    #[inline]
    pub(crate) const fn is_rank_hinted(self, variant: &Variant) -> bool {
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
