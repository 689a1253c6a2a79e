//! Games with given decks.
//!
//! The kernel draws a card by a random number below the number of cards that are left. In a game with
//! a given deck the generator is set, before each turn, to a state that draws the deck's next card. So
//! the kernel's code for turns does not know where a deck comes from.

use crate::batch::kernel::block::{Block, Field, count, counter};
use crate::batch::kernel::game::Game;
use crate::batch::kernel::lanes::Isa;
use crate::rules::{
    DeckError, EpisodeSeed, GameRng, ListedDeck, MAX_CARDS, MAX_HAND_SIZE, MAX_PLAYERS, Position,
    RandomDeck, Variant,
};

/// The decks and start players that a reset deals: one byte for each card, suit times ranks plus
/// rank, the top card first, deck after deck; and one seat for each game, or seat 0 for all.
#[derive(Clone, Copy, Debug)]
pub struct GivenDecks<'a> {
    /// The cards of all games.
    pub cards: &'a [u8],
    /// The start player of each game.
    pub start_players: Option<&'a [u8]>,
}

impl GivenDecks<'_> {
    /// Deals the deck of one game, which counts as this episode, and writes its row of draws.
    ///
    /// # Errors
    /// [`DeckError`] for a deck that is not the variant's, or a start player that is not a seat.
    pub(in crate::batch) fn deal(
        &self,
        game: usize,
        variant: &Variant,
        seed: EpisodeSeed,
        draws: &mut [u8],
    ) -> Result<Game, DeckError> {
        let size = usize::from(variant.deck_size());
        let cards = &self.cards[game * size..][..size];
        let mut deck = ListedDeck::from_indices(variant, cards)?;
        let start = self.start_players.map_or(0, |all| all[game]);
        let start = variant.start_player(start.into())?;
        let position = Position::deal(variant, start, &mut deck);
        let mut dealt = [0; MAX_DEALT];
        let dealt = &mut dealt[..size - usize::from(position.deck_size())];
        let left = write_draws(variant, cards, dealt, draws);
        let size = usize::from(position.deck_size());
        let rng = GameRng::from_state(state(size, draws[size]));
        let deck = RandomDeck { left, size: position.deck_size(), rng };
        Ok(Game { position, deck, seed, length: 0 })
    }
}

/// Writes, for each number of cards that are left, the random number that draws the deck's next card.
/// The first entry is 1. `dealt` gets the copies of the first cards; the result is the
/// copies that are left after them. The deck is the variant's.
pub(in crate::batch) fn write_draws(
    variant: &Variant,
    cards: &[u8],
    dealt: &mut [u8],
    draws: &mut [u8],
) -> u64 {
    let mut left = u64::MAX >> (64 - cards.len());
    let mut left_after_deal = left;
    draws[0] = 1;
    for (index, &card) in cards.iter().enumerate() {
        // Of the copies of a card, which are neighbours, the lowest is drawn first.
        let copies = left & variant.tables().copy_field[usize::from(card)];
        let before = left & (copies & copies.wrapping_neg()).wrapping_sub(1);
        draws[cards.len() - index] = before.count_ones() as u8;
        left &= !(copies & copies.wrapping_neg());
        if let Some(dealt) = dealt.get_mut(index) {
            *dealt = copies.trailing_zeros() as u8;
            left_after_deal = left;
        }
    }
    left_after_deal
}

/// The most cards that are dealt to hands.
pub(in crate::batch) const MAX_DEALT: usize = MAX_PLAYERS * MAX_HAND_SIZE;

/// The number of entries in a game's row of draws: one for each number of cards that are left. The
/// first says whether the game has a given deck.
pub fn row_length(variant: &Variant) -> usize {
    usize::from(variant.deck_size()) + 1
}

/// The short form of a state whose random number below `bound` is `number`.
///
/// The number is the high half of `output * bound`, and the output of a state below 2^59, which is not
/// rotated, is the low half of `short ^ short >> 18`, where `short` is the state without its lowest 27
/// bits. Both can be inverted.
const fn short_state(number: u32, bound: u32) -> u32 {
    let output = ((number as u64) << 32).div_ceil(bound as u64) as u32;
    output ^ output >> 18
}

/// The short forms of the states, by bound and number: a division for each would cost more than the rest
/// of a deal.
static STATES: [[u32; MAX_CARDS]; MAX_CARDS + 1] = {
    let mut states = [[0; MAX_CARDS]; MAX_CARDS + 1];
    let mut bound = 1;
    while bound <= MAX_CARDS {
        let mut number = 0;
        while number < bound {
            states[bound][number] = short_state(number as u32, bound as u32);
            number += 1;
        }
        bound += 1;
    }
    states
};

/// The state of the random number generator that draws this number with so many cards left.
#[inline(always)]
fn state(left: usize, draw: u8) -> u64 {
    u64::from(STATES[left][usize::from(draw)]) << 27
}

/// Sets the generators of the games with a given deck, so that the next turn draws the deck's next card.
/// `draws` has a row for each game of the block.
#[inline(always)]
pub fn set_next_cards<I: Isa, const VARIANT: usize>(
    block: &mut Block<'_, I, VARIANT>,
    draws: &[u8],
) {
    let row = block.sizes().deck_size + 1;
    for (lane, draws) in draws.chunks_exact(row).enumerate() {
        if draws[0] != 0 {
            let left = usize::from(count(block.word(Field::Counters).0[lane], counter::DECK));
            block.set_field(Field::Rng, lane, state(left, draws[left]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_draws_the_number_that_it_is_made_for() {
        for bound in 1..=64 {
            for number in 0..bound {
                let mut rng = GameRng::from_state(state(bound as usize, number as u8));
                assert_eq!(rng.below(bound), number, "below {bound}");
            }
        }
    }
}
