//! The rule sheets' words for final scores.

use crate::rules::names::named;
use crate::rules::variants::variant::Variant;

named!("rating",
    /// The word of the rule sheets for a final score, in ascending order.
    #[derive(PartialOrd, Ord)]
    Rating {
        /// 0 to 5.
        Horrible = "horrible",
        /// 6 to 10.
        Mediocre = "mediocre",
        /// 11 to 15.
        Honourable = "honourable",
        /// 16 to 20.
        Excellent = "excellent",
        /// 21 to 24.
        Amazing = "amazing",
        /// 25, and up to 29 with six fireworks.
        Legendary = "legendary",
        /// 30, with six fireworks.
        Divine = "divine",
    }
);

impl Rating {
    /// The rating of a final score. `None` where the rule sheets have no scale: they rate five or
    /// six fireworks of five ranks, and not the crowning piece.
    #[must_use]
    pub fn of(variant: &Variant, score: u8) -> Option<Rating> {
        let scaled = variant.ranks() == 5 && variant.colors() >= 5 && !variant.crowning_piece();
        if !scaled || score > variant.max_score() {
            return None;
        }
        Some(match score {
            0..=5 => Rating::Horrible,
            6..=10 => Rating::Mediocre,
            11..=15 => Rating::Honourable,
            16..=20 => Rating::Excellent,
            21..=24 => Rating::Amazing,
            25..=29 => Rating::Legendary,
            _ => Rating::Divine,
        })
    }
}
