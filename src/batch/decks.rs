//! Games with given decks.
//!
//! The kernel draws a card by a random number below the number of cards that are left. In a game with
//! a given deck the generator is set, before each turn, to a state that draws the deck's next card. So
//! the kernel's code for turns does not know where a deck comes from.

use super::kernel::block::{Block, Field, count, counter};
use super::kernel::game::Game;
use super::kernel::lanes::Isa;
use crate::rules::{
    DeckError, EpisodeSeed, GameRng, ListedDeck, MAX_HAND_SIZE, MAX_PLAYERS, Position, RandomDeck,
    Variant,
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
    /// Deals the deck of one game, which counts as this episode, and writes its row of states.
    ///
    /// # Errors
    /// [`DeckError`] for a deck that is not the variant's, or a start player that is not a seat.
    pub(super) fn deal(
        &self,
        game: usize,
        variant: &Variant,
        seed: EpisodeSeed,
        states: &mut [u32],
    ) -> Result<Game, DeckError> {
        let size = usize::from(variant.deck_size());
        let cards = &self.cards[game * size..][..size];
        let mut deck = ListedDeck::from_indices(variant, cards)?;
        let (players, start) = (variant.players(), self.start_players.map_or(0, |all| all[game]));
        if start >= players {
            return Err(DeckError::WrongStartPlayer { start_player: start.into(), players });
        }
        let position = Position::deal(variant, start, &mut deck);
        let mut dealt = [0; MAX_DEALT];
        let dealt = &mut dealt[..size - usize::from(position.deck_size())];
        let left = write_states(variant, cards, dealt, states);
        let rng = GameRng::from_state(state(states[usize::from(position.deck_size())]));
        let deck = RandomDeck { left, size: position.deck_size(), rng };
        Ok(Game { position, deck, seed, length: 0 })
    }
}

/// Writes, for each number of cards that are left, the short form of the state that draws the deck's
/// next card. The first entry is 1. `dealt` gets the copies of the first cards; the result is the
/// copies that are left after them. The deck is the variant's.
pub(super) fn write_states(
    variant: &Variant,
    cards: &[u8],
    dealt: &mut [u8],
    states: &mut [u32],
) -> u64 {
    let mut left = u64::MAX >> (64 - cards.len());
    let mut left_after_deal = left;
    states[0] = 1;
    for (index, &card) in cards.iter().enumerate() {
        // Of the copies of a card, which are neighbours, the lowest is drawn first.
        let copies = left & variant.tables().copy_field[usize::from(card)];
        let before = left & (copies & copies.wrapping_neg()).wrapping_sub(1);
        let size = cards.len() - index;
        states[size] = short_state(before.count_ones(), size as u32);
        left &= !(copies & copies.wrapping_neg());
        if let Some(dealt) = dealt.get_mut(index) {
            *dealt = copies.trailing_zeros() as u8;
            left_after_deal = left;
        }
    }
    left_after_deal
}

/// The most cards that are dealt to hands.
pub(super) const MAX_DEALT: usize = MAX_PLAYERS * MAX_HAND_SIZE;

/// The number of entries in a game's row of states: one for each number of cards that are left. The
/// first says whether the game has a given deck.
pub fn row_length(variant: &Variant) -> usize {
    usize::from(variant.deck_size()) + 1
}

/// The short form of a state whose random number below `bound` is `number`.
///
/// The number is the high half of `output * bound`, and the output of a state below 2^59, which is not
/// rotated, is the low half of `short ^ short >> 18`, where `short` is the state without its lowest 27
/// bits. Both can be inverted.
fn short_state(number: u32, bound: u32) -> u32 {
    let output = (u64::from(number) << 32).div_ceil(u64::from(bound)) as u32;
    output ^ output >> 18
}

/// The state of the random number generator.
const fn state(short: u32) -> u64 {
    (short as u64) << 27
}

/// Sets the generators of the games with a given deck, so that the next turn draws the deck's next card.
/// `states` has a row for each game of the block.
#[inline(always)]
pub fn set_next_cards<I: Isa, const STANDARD: usize>(
    block: &mut Block<'_, I, STANDARD>,
    states: &[u32],
) {
    let row = block.sizes().deck_size + 1;
    for (lane, states) in states.chunks_exact(row).enumerate() {
        if states[0] != 0 {
            let left = count(block.word(Field::Counters).0[lane], counter::DECK);
            block.set_field(Field::Rng, lane, state(states[usize::from(left)]));
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
                let mut rng = GameRng::from_state(state(short_state(number, bound)));
                assert_eq!(rng.below(bound), number, "below {bound}");
            }
        }
    }
}
