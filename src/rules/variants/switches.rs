//! The rules that are on or off: one row each.

use crate::rules::cards::card::Suit;
use crate::rules::variants::parameters::Parameters;
use crate::rules::variants::variant::Variant;

/// A rule that is on or off.
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    /// The parameter's name.
    pub name: &'static str,
    on: &'static str,
    off: &'static str,
    get: fn(&Parameters) -> bool,
    set: fn(&mut Parameters, bool),
}

impl Switch {
    /// Whether the rule is on.
    #[must_use]
    pub fn is_on(&self, parameters: &Parameters) -> bool {
        (self.get)(parameters)
    }

    /// Turns the rule on or off.
    pub fn set(&self, parameters: &mut Parameters, is_on: bool) {
        (self.set)(parameters, is_on);
    }

    /// What holds in a variant, for its players; empty where nothing needs to be said.
    #[must_use]
    pub fn text(&self, variant: &Variant) -> String {
        let text = if self.is_on(variant.parameters()) { self.on } else { self.off };
        text.replace("{suit}", variant.edition().suit_name(Suit::ALL[0]))
    }
}

/// Defines [`SWITCHES`] and an accessor of [`Variant`] for each. A row has the accessor's documentation, the name, and
/// the texts for players where the rule is on and where it is off; `{suit}` is the name of the first suit.
macro_rules! switches {
    ($($(#[$about:meta])* $name:ident: $on:literal, $off:literal;)+) => {
        /// The rules that are on or off, in the order of [`Parameters`].
        pub const SWITCHES: &[Switch] = &[$(Switch {
            name: stringify!($name),
            on: $on,
            off: $off,
            get: |parameters| parameters.$name,
            set: |parameters, is_on| parameters.$name = is_on,
        }),+];

        impl Variant {
            $($(#[$about])*
            #[must_use]
            pub const fn $name(&self) -> bool {
                self.parameters().$name
            })+
        }
    };
}

switches! {
    /// Whether any seat may start.
    random_start_player: "A seat that was drawn begins.", "Seat 0 begins.";
    /// Whether a hint may match no card.
    empty_hints: "A hint may touch no card, but the hand must have a card.",
        "A hint must touch at least one card.";
    /// Whether there is no last round: the game goes on until it is perfect or can no longer be.
    crowning_piece: "There is no last round: when the deck is empty, the game goes on and hands shrink. The game is \
         lost as soon as the last copy of a card that a firework needs is in the discards. It is also lost when the \
         seat to act has neither a card nor an information token.",
        "When the last card of the deck is drawn, each seat has one more turn, also the seat that drew it; then the \
         game ends and scores the cards on the fireworks.";
    /// Whether a play may announce a colour.
    timed_display: "A play may name the suit of its card, as in \"play slot 0 announcing {suit}\". If the card has \
         the suit and is the next rank, it is added and gives an information token back, in addition to the token of \
         a completed firework. With a wrong suit the play fails, even if the card were the next rank.", "";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row whose name is not its parameter's would tell of another rule.
    #[test]
    fn a_switch_turns_on_the_parameter_of_its_name() {
        for switch in SWITCHES {
            let mut parameters = Parameters::default();
            assert!(!switch.is_on(&parameters), "{} is on by default", switch.name);
            switch.set(&mut parameters, true);
            assert!(switch.is_on(&parameters));
            assert_eq!(serde_json::to_value(&parameters).unwrap()[switch.name], true);
        }
    }
}
