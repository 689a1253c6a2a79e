use std::fmt;

use crate::rules::View;

/// A comparison of a public quantity with a number, such as `life_tokens > 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    quantity: Quantity,
    comparison: Comparison,
    number: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    LifeTokens,
    InformationTokens,
    DeckSize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Less,
    Equal,
    Greater,
}

const QUANTITIES: [(&str, Quantity); 3] = [
    ("life_tokens", Quantity::LifeTokens),
    ("information_tokens", Quantity::InformationTokens),
    ("deck_size", Quantity::DeckSize),
];

const COMPARISONS: [(&str, Comparison); 3] =
    [("<", Comparison::Less), ("=", Comparison::Equal), (">", Comparison::Greater)];

/// The syntax of conditions, for error messages.
pub(super) const EXPECTED: &str = "life_tokens, information_tokens or deck_size, then <, = or >, \
                                   then a number from 0 to 255; several joined by \"and\"";

impl Condition {
    /// Parses the three words of a condition.
    pub fn parse(words: &[&str]) -> Option<Condition> {
        let &[quantity, comparison, number] = words else { return None };
        Some(Condition {
            quantity: find(&QUANTITIES, quantity)?,
            comparison: find(&COMPARISONS, comparison)?,
            number: number.parse().ok()?,
        })
    }

    pub fn holds(self, view: &View<'_>) -> bool {
        let found = match self.quantity {
            Quantity::LifeTokens => view.life_tokens(),
            Quantity::InformationTokens => view.information_tokens(),
            Quantity::DeckSize => view.deck_size(),
        };
        match self.comparison {
            Comparison::Less => found < self.number,
            Comparison::Equal => found == self.number,
            Comparison::Greater => found > self.number,
        }
    }
}

fn find<T: Copy>(names: &[(&str, T)], wanted: &str) -> Option<T> {
    names.iter().find(|(name, _)| *name == wanted).map(|&(_, value)| value)
}

fn name<T: Copy + PartialEq>(names: &[(&'static str, T)], wanted: T) -> &'static str {
    names.iter().find(|(_, value)| *value == wanted).map_or("", |&(name, _)| name)
}

impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quantity = name(&QUANTITIES, self.quantity);
        let comparison = name(&COMPARISONS, self.comparison);
        write!(formatter, "{quantity} {comparison} {}", self.number)
    }
}
