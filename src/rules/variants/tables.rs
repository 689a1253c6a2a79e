//! Lookup tables of a variant, which every step reads.

use crate::rules::cards::card::{Card, Rank, Suit};
use crate::rules::limits::{MAX_CARD_KINDS, MAX_CARDS, MAX_COLORS, MAX_RANKS};
use crate::rules::turns::moves::Move;

/// Copies of each card, by suit and rank.
pub(in crate::rules) type Copies = [[u8; MAX_RANKS]; MAX_COLORS];

/// Tables by card index (`suit * ranks + rank`).
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    /// One bit for each kind of card.
    pub all_cards: u64,
    /// One bit for each copy of a card.
    pub all_copies: u64,
    /// The kinds of each suit.
    pub suit_cards: [u64; MAX_COLORS],
    /// The kinds of each rank.
    pub rank_cards: [u64; MAX_RANKS],
    /// Each card's bits in a set of all copies, lowest bit first.
    pub copy_field: [u64; MAX_CARD_KINDS],
    /// The highest bit of each card's field: set when all its copies are in the set.
    pub last_copies: u64,
    /// The second highest bit of each card's field: set when at most one copy is outside the set. A card with a single
    /// copy has no second bit but its only one, so add `single_copies` to the set before this mask is used.
    pub last_copy_left: u64,
    /// The bits of the cards with a single copy.
    pub single_copies: u64,
    /// The kinds with one or three copies.
    pub copies_ones: u64,
    /// The kinds with two or three copies.
    pub copies_twos: u64,
    /// The bits of [`Knowledge`](crate::rules::Knowledge) that say which suit was hinted.
    pub hinted_suits: u64,
    /// The bits that say which rank was hinted.
    pub hinted_ranks: u64,
    /// The card of each bit in a set of all copies.
    pub copy_card: [u8; MAX_CARDS],
    /// Suit and rank of each card.
    pub card: [Card; MAX_CARD_KINDS],
    /// The move of each action id.
    pub moves: Vec<Move>,
}

impl Tables {
    /// The tables, except for `moves`, which need the finished variant.
    pub(in crate::rules) fn new(colors: u8, ranks: u8, copies: &Copies) -> Tables {
        let mut tables = Tables {
            all_cards: 0,
            all_copies: 0,
            suit_cards: [0; MAX_COLORS],
            rank_cards: [0; MAX_RANKS],
            copy_field: [0; MAX_CARD_KINDS],
            last_copies: 0,
            last_copy_left: 0,
            single_copies: 0,
            copies_ones: 0,
            copies_twos: 0,
            hinted_suits: ((1 << colors) - 1) << (colors * ranks),
            hinted_ranks: ((1 << ranks) - 1) << (colors * ranks + colors),
            copy_card: [0; MAX_CARDS],
            card: [Card::new(Suit::ALL[0], Rank::ALL[0]); MAX_CARD_KINDS],
            moves: Vec::new(),
        };
        let mut first_copy = 0;
        for &suit in &Suit::ALL[..usize::from(colors)] {
            for &rank in &Rank::ALL[..usize::from(ranks)] {
                let number = copies[suit.index()][rank.index()];
                let index = suit.index() * usize::from(ranks) + rank.index();
                tables.add_card(index, Card::new(suit, rank), first_copy, number);
                first_copy += usize::from(number);
            }
        }
        tables
    }

    /// Adds a kind of card whose copies begin at this bit of a set of all copies.
    fn add_card(&mut self, index: usize, card: Card, first_copy: usize, number: u8) {
        self.card[index] = card;
        self.all_cards |= 1 << index;
        self.suit_cards[card.suit.index()] |= 1 << index;
        self.rank_cards[card.rank.index()] |= 1 << index;
        self.copies_ones |= u64::from(number & 1) << index;
        self.copies_twos |= u64::from(number >> 1) << index;
        let end = first_copy + usize::from(number);
        for copy in first_copy..end {
            self.copy_field[index] |= 1 << copy;
            self.all_copies |= 1 << copy;
            self.copy_card[copy] = index as u8;
        }
        let last = 1 << (end - 1);
        let is_single = number == 1;
        self.last_copies |= last;
        self.last_copy_left |= if is_single { last } else { last >> 1 };
        self.single_copies |= if is_single { last } else { 0 };
    }
}
