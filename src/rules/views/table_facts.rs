//! What lies open on the table: facts that every seat sees.

/// The methods for what lies open on the table, of a type with a `variant` and a `position`: the type, the lifetime of
/// its position, and its own lifetime if it has one.
macro_rules! table_facts {
    ($type:ty, $life:lifetime $(, $parameter:lifetime)?) => {
        impl $(<$parameter>)? $type {
            /// The seat to act. After the end: the seat that would have been next.
            #[must_use]
            pub const fn current_player(&self) -> Seat {
                self.position.current_player
            }

            /// Height of each firework, in the order of the suits.
            #[must_use]
            pub fn fireworks(&self) -> &$life [u8] {
                self.position.fireworks(&self.variant)
            }

            /// Height of the firework of a suit.
            ///
            /// # Panics
            /// If the variant does not have the suit.
            #[must_use]
            pub fn stack(&self, suit: Suit) -> u8 {
                self.fireworks()[suit.index()]
            }

            /// Information tokens left.
            #[must_use]
            pub const fn information_tokens(&self) -> u8 {
                self.position.information_tokens
            }

            /// Life tokens left.
            #[must_use]
            pub const fn life_tokens(&self) -> u8 {
                self.position.life_tokens
            }

            /// Cards left in the deck.
            #[must_use]
            pub const fn deck_size(&self) -> u8 {
                self.position.deck_size
            }

            /// Which kinds of cards are playable, dead or critical.
            #[must_use]
            pub fn outlook(&self) -> Outlook {
                self.position.outlook(&self.variant)
            }

            /// The score so far. The variant's `lost_game_score` decides that of a lost game.
            #[must_use]
            pub fn score(&self) -> u8 {
                self.position.score(&self.variant)
            }

            /// How the game ended, or `None` while it goes on.
            #[must_use]
            pub const fn ending(&self) -> Option<Ending> {
                self.position.ending
            }
        }
    };
}

pub(in crate::rules) use table_facts;
