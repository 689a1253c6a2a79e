//! The names and letters of the suits in the editions of the game.

use crate::rules::cards::card::Suit;
use crate::rules::limits::MAX_COLORS;
use crate::rules::names::named;

named!("edition",
    /// The names and letters of the suits. They affect text only: the games are the same.
    #[derive(Default)]
    Edition {
        /// Red, yellow, green, white, blue, multicolour, as in HLE.
        #[default]
        Standard = "standard",
        /// The Hanabi & Ikebana box: black instead of white.
        Ikebana = "ikebana",
        /// Playing cards: spades, hearts, diamonds, clubs.
        Traditional = "traditional",
    }
);

type Names = [(char, &'static str); MAX_COLORS];

const STANDARD: Names = [
    ('R', "red"),
    ('Y', "yellow"),
    ('G', "green"),
    ('W', "white"),
    ('B', "blue"),
    ('M', "multicolour"),
];
const IKEBANA: Names = [
    ('R', "red"),
    ('Y', "yellow"),
    ('G', "green"),
    ('K', "black"),
    ('B', "blue"),
    ('M', "multicolour"),
];
const TRADITIONAL: Names = [
    ('S', "spades"),
    ('H', "hearts"),
    ('D', "diamonds"),
    ('C', "clubs"),
    ('B', "blue"),
    ('M', "multicolour"),
];

impl Edition {
    const fn names(self) -> &'static Names {
        match self {
            Edition::Standard => &STANDARD,
            Edition::Ikebana => &IKEBANA,
            Edition::Traditional => &TRADITIONAL,
        }
    }

    /// A suit's letter, such as `'R'`.
    #[must_use]
    pub const fn letter(self, suit: Suit) -> char {
        self.names()[suit.index()].0
    }

    /// A suit's name, such as `"red"`.
    #[must_use]
    pub const fn suit_name(self, suit: Suit) -> &'static str {
        self.names()[suit.index()].1
    }

    /// The suit with this letter or name in any edition, ignoring case. No two editions disagree.
    pub(in crate::rules) fn find_suit(text: &str) -> Option<Suit> {
        let mut buffer = [0; 4];
        Suit::ALL.into_iter().find(|suit| {
            Edition::ALL.iter().any(|edition| {
                let (letter, name) = edition.names()[suit.index()];
                text.eq_ignore_ascii_case(name)
                    || text.eq_ignore_ascii_case(letter.encode_utf8(&mut buffer))
            })
        })
    }
}
