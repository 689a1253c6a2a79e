//! The conditions of a rule, such as `life_tokens > 1`.

use std::cmp::Ordering;
use std::fmt;

use crate::rules::View;

/// A comparison of a public quantity with a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Condition {
    quantity: &'static Quantity,
    comparison: &'static (&'static str, Ordering),
    number: u8,
}

/// The name of a quantity and its value.
type Quantity = (&'static str, fn(&View<'_>) -> u8);

static QUANTITIES: [Quantity; 3] = [
    ("life_tokens", |view| view.life_tokens()),
    ("information_tokens", |view| view.information_tokens()),
    ("deck_size", |view| view.deck_size()),
];

static COMPARISONS: [(&str, Ordering); 3] =
    [("<", Ordering::Less), ("=", Ordering::Equal), (">", Ordering::Greater)];

/// The syntax of conditions, for error messages.
pub(super) const EXPECTED: &str = "life_tokens, information_tokens or deck_size, then <, = or >, \
                                   then a number from 0 to 255; several joined by \"and\"";

impl Condition {
    /// Parses the three words of a condition.
    pub fn parse(words: &[&str]) -> Option<Condition> {
        let &[quantity, comparison, number] = words else { return None };
        Some(Condition {
            quantity: QUANTITIES.iter().find(|(name, _)| *name == quantity)?,
            comparison: COMPARISONS.iter().find(|(name, _)| *name == comparison)?,
            number: number.parse().ok()?,
        })
    }

    pub fn holds(self, view: &View<'_>) -> bool {
        let (_, value) = self.quantity;
        value(view).cmp(&self.number) == self.comparison.1
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} {}", self.quantity.0, self.comparison.0, self.number)
    }
}
