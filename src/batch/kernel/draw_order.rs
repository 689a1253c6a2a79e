//! A given deck as the kernel draws from it.

use super::block::{count, counter};
use super::lanes::Word;
use crate::rules::{MAX_CARDS, MAX_HAND_SIZE, MAX_PLAYERS, Variant};

/// The order in which a given deck is drawn. The kernel draws the copy at an index among the copies
/// that are left, which is random in other games.
#[derive(Clone, Copy, Debug)]
pub struct DrawOrder {
    /// For each number of cards that are left the index of the next card.
    indices: [u8; MAX_CARDS + 1],
}

/// The hands of a given deck.
pub struct DealtCopies {
    /// The copies that are dealt, seat by seat.
    pub dealt: [u8; MAX_PLAYERS * MAX_HAND_SIZE],
    /// The copies that are left, one bit each.
    pub left: u64,
}

impl DrawOrder {
    /// Returns the order in which a deck is drawn, and the hands that its first `num_dealt` cards
    /// make.
    pub fn new(variant: &Variant, cards: &[u8], num_dealt: usize) -> (DrawOrder, DealtCopies) {
        let mut indices = [0; MAX_CARDS + 1];
        let mut hands = DealtCopies { dealt: [0; MAX_PLAYERS * MAX_HAND_SIZE], left: 0 };
        let mut left = u64::MAX >> (64 - cards.len());
        for (index, &card) in cards.iter().enumerate() {
            // Of the copies of a card, which are neighbours, the lowest is drawn first.
            let copies = left & variant.tables().copy_field[usize::from(card)];
            let copy = copies & copies.wrapping_neg();
            indices[cards.len() - index] = (left & copy.wrapping_sub(1)).count_ones() as u8;
            left &= !copy;
            if index < num_dealt {
                hands.dealt[index] = copy.trailing_zeros() as u8;
                hands.left = left;
            }
        }
        (DrawOrder { indices }, hands)
    }

    /// Overwrites the indices that the games of a block draw at, where the game has a given deck.
    /// The counters are those before the draw.
    #[inline(never)]
    pub fn override_draws(orders: &[Option<DrawOrder>], counters: &Word, draws: &mut Word) {
        for (lane, order) in orders.iter().enumerate() {
            if let Some(order) = order {
                let left = count(counters.0[lane], counter::DECK);
                draws.0[lane] = order.indices[usize::from(left)].into();
            }
        }
    }
}
