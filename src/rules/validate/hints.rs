//! What is known about the cards in the hands, as far as hints can have told it.

use crate::rules::card::Card;
use crate::rules::hand::Hand;
use crate::rules::hint::Hint;
use crate::rules::knowledge::Knowledge;
use crate::rules::position::Position;
use crate::rules::position_error::{PositionError, require};
use crate::rules::variant::Variant;

impl Position {
    /// Checks that at most so many hints lead to what is known about the hands.
    pub(super) fn check_hints(&self, variant: &Variant, hints: u8) -> Result<(), PositionError> {
        let mut needed = 0;
        for hand in &self.hands[..usize::from(variant.players())] {
            needed += hand.check_knowledge(variant)?;
        }
        require(needed <= hints.into(), "knowledge", "more hints than were given")
    }
}

impl Hand {
    /// The number of hints that the hand was given for certain.
    fn check_knowledge(&self, variant: &Variant) -> Result<usize, PositionError> {
        let kinds = self.cards().iter().map(|&card| variant.tables().card[usize::from(card)]);
        let slots: Vec<(Card, Knowledge)> = kinds.zip(self.knowledge).collect();
        let consistent = slots.iter().all(|&(card, knowledge)| {
            let told = |before: Knowledge, hint: Hint| match knowledge.excludes(variant, hint) {
                true => before.told(variant, hint, hint.matches(card)),
                false => before,
            };
            all_hints(variant).fold(Knowledge::unhinted(variant), told) == knowledge
        });
        require(consistent, "knowledge", "no hints tell this about the card")?;
        // Whatever was said about a newer card was said about the older ones as well.
        let shared = slots.windows(2).all(|pair| {
            let hints = all_hints(variant).filter(|&hint| pair[1].1.was_given(variant, hint));
            hints.into_iter().all(|hint| pair[0].1.excludes(variant, hint))
        });
        require(shared, "knowledge", "a hint has passed over an older card")?;
        let given = |hint: &Hint| slots.iter().any(|slot| slot.1.was_given(variant, *hint));
        Ok(all_hints(variant).filter(given).count())
    }
}

impl Knowledge {
    /// Whether the hint would add nothing: it has named the card, or no card that it names is
    /// plausible.
    fn excludes(self, variant: &Variant, hint: Hint) -> bool {
        self.is_named_by(variant, hint)
            || !variant
                .card_kinds()
                .any(|card| hint.matches(card) && self.is_plausible(variant, card))
    }

    /// Whether the hand was given the hint for certain. A card whose suit was named excludes all
    /// other suits by that hint alone, and so with the ranks.
    fn was_given(self, variant: &Variant, hint: Hint) -> bool {
        let is_named = match hint {
            Hint::Color(_) => self.is_suit_hinted(variant),
            Hint::Rank(_) => self.is_rank_hinted(variant),
        };
        if is_named { self.is_named_by(variant, hint) } else { self.excludes(variant, hint) }
    }

    fn is_named_by(self, variant: &Variant, hint: Hint) -> bool {
        match hint {
            Hint::Color(suit) => self.hinted_suit(variant) == Some(suit),
            Hint::Rank(rank) => self.hinted_rank(variant) == Some(rank),
        }
    }
}

fn all_hints(variant: &Variant) -> impl Iterator<Item = Hint> {
    variant.suits().map(Hint::Color).chain(variant.rank_values().map(Hint::Rank))
}
