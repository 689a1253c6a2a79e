use super::variant::Variant;

/// The rule sheets' word for a final score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rating {
    /// 0 to 5.
    Horrible,
    /// 6 to 10.
    Mediocre,
    /// 11 to 15.
    Honourable,
    /// 16 to 20.
    Excellent,
    /// 21 to 24.
    Amazing,
    /// 25, and up to 29 with six fireworks.
    Legendary,
    /// 30, with six fireworks.
    Divine,
}

impl Rating {
    /// All ratings, the lowest first.
    pub const ALL: [Rating; 7] = [
        Rating::Horrible,
        Rating::Mediocre,
        Rating::Honourable,
        Rating::Excellent,
        Rating::Amazing,
        Rating::Legendary,
        Rating::Divine,
    ];

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

    /// The word itself, such as `"amazing"`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Rating::Horrible => "horrible",
            Rating::Mediocre => "mediocre",
            Rating::Honourable => "honourable",
            Rating::Excellent => "excellent",
            Rating::Amazing => "amazing",
            Rating::Legendary => "legendary",
            Rating::Divine => "divine",
        }
    }
}
