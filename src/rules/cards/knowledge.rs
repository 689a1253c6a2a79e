//! What the hints say about one card.

use std::fmt::{self, Debug, Formatter};

use crate::rules::cards::card::{Card, Rank, Suit};
use crate::rules::cards::card_set::CardSet;
use crate::rules::cards::hint_bits::HintBits;
use crate::rules::variants::variant::Variant;

/// What the hints given so far say about one card. Views give it.
///
/// ```
/// use starmine::rules::{EpisodeSeed, Offset, Seat, Slot, State, Suit, Variant};
///
/// let mut state = State::new(Variant::default(), EpisodeSeed::new(7));
/// state.play("hint +1 yellow".parse()?)?;
/// let view = state.view(Seat::ALL[1]);
/// for (slot, known) in view.own_hand() {
///     let is_yellow = known.hinted_suit() == Some(Suit::YELLOW);
///     println!("slot {slot}: {} plausible cards, yellow: {is_yellow}", known.plausible().len());
/// }
/// assert!(view.knowledge(Offset::OWN, Slot::ALL[5]).is_none(), "a hand of five has no slot 5");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Knowledge<'a> {
    variant: &'a Variant,
    hints: HintBits,
}

impl<'a> Knowledge<'a> {
    pub(in crate::rules) const fn new(variant: &'a Variant, hints: HintBits) -> Knowledge<'a> {
        Knowledge { variant, hints }
    }

    /// The knowledge as a word in the order of the canonical encoders: the plausible cards
    /// (`colors * ranks` bits), the hinted colour (`colors` bits), the hinted rank (`ranks` bits).
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.hints.bits()
    }

    /// Whether the hints allow this card.
    #[must_use]
    pub fn is_plausible(self, card: Card) -> bool {
        self.variant.has_card(card) && self.hints.is_plausible(self.variant, card)
    }

    /// The cards that the hints allow.
    #[must_use]
    pub fn plausible(self) -> CardSet {
        self.hints.plausible_kinds(self.variant).cards(self.variant.ranks().into())
    }

    /// The colour, if a hint named it.
    #[must_use]
    pub fn hinted_suit(self) -> Option<Suit> {
        self.hints.hinted_suit(self.variant)
    }

    /// The rank, if a hint named it.
    #[must_use]
    pub fn hinted_rank(self) -> Option<Rank> {
        self.hints.hinted_rank(self.variant)
    }
}

impl Debug for Knowledge<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Knowledge")
            .field("plausible", &self.plausible())
            .field("hinted_suit", &self.hinted_suit())
            .field("hinted_rank", &self.hinted_rank())
            .finish()
    }
}

/// Two are equal if they allow the same cards and name the same colour and rank.
impl PartialEq for Knowledge<'_> {
    fn eq(&self, other: &Knowledge<'_>) -> bool {
        let parts =
            |known: &Knowledge<'_>| (known.plausible(), known.hinted_suit(), known.hinted_rank());
        parts(self) == parts(other)
    }
}
