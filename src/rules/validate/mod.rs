//! Validation of stored positions: which of them a game can reach.
//!
//! A position holds no history, so a history cannot be replayed. Instead every field is compared with
//! what the seed, the number of turns and the other fields leave possible.

mod cards;
mod hints;
mod last_turn;
mod tally;

use cards::DrawnCards;
use tally::Tally;

use super::deck::RandomDeck;
use super::ending::Ending;
use super::episode_seed::EpisodeSeed;
use super::hand::Hand;
use super::position::Position;
use super::position_error::{PositionError, require};
use super::variant::Variant;

impl Position {
    /// Checks that the game of this seed can stand in this position after so many turns, all legal.
    /// Returns its deck.
    ///
    /// # Errors
    /// [`PositionError`] with the first field that cannot be so.
    pub fn validate(
        &self,
        variant: &Variant,
        seed: EpisodeSeed,
        turns: u8,
    ) -> Result<RandomDeck, PositionError> {
        self.check_ranges(variant)?;
        let tally = Tally::new(self, variant, turns)?;
        let drawn = DrawnCards::new(variant, seed, tally);
        let acting = (usize::from(drawn.start_player) + usize::from(turns)) % self.players(variant);
        require(self.current_player() == acting, "current_player", "it is another seat's turn")?;
        self.check_cards(variant, &drawn)?;
        self.check_hands(variant, &drawn)?;
        self.check_hand_sizes(variant, tally)?;
        self.check_hints(variant, tally.hints)?;
        self.check_last_turn(variant, tally, &drawn)?;
        require(self.ending == self.find_ending(variant), "ending", "the rules say otherwise")?;
        Ok(drawn.deck)
    }

    /// As [`Position::validate`], for a game that an illegal action has ended, which counts as its
    /// last turn.
    ///
    /// # Errors
    /// [`PositionError`] with the first field that cannot be so.
    pub fn validate_forfeited(
        &self,
        variant: &Variant,
        seed: EpisodeSeed,
        turns: u8,
    ) -> Result<RandomDeck, PositionError> {
        let lost = self.ending == Some(Ending::Lost) && self.life_tokens == 0;
        require(lost, "ending", "an illegal action loses the game and all life tokens")?;
        require(turns > 0, "length", "the illegal action counts as a turn")?;
        // The number of life tokens before the illegal action is not kept.
        let before = |life_tokens| Position { life_tokens, ending: None, ..*self };
        let all = variant.max_life_tokens();
        let checks = (1..=all).map(|tokens| before(tokens).validate(variant, seed, turns - 1));
        checks.reduce(Result::or).expect("a variant has life tokens")
    }

    /// Checks that every number is in its range and that unused places are empty.
    fn check_ranges(&self, variant: &Variant) -> Result<(), PositionError> {
        let (fireworks, absent) = self.fireworks.split_at(variant.colors().into());
        let fit = fireworks.iter().all(|&height| height <= variant.ranks());
        require(fit, "fireworks", "a stack is higher than the highest rank")?;
        require(absent.iter().all(|&height| height == 0), "fireworks", "unknown suit")?;
        let information = self.information_tokens <= variant.max_information_tokens();
        require(information, "information_tokens", "more than all")?;
        let lives = self.life_tokens <= variant.max_life_tokens();
        require(lives, "life_tokens", "more than all")?;
        let seated = self.current_player() < self.players(variant);
        require(seated, "current_player", "no such seat")?;
        require(self.last_turns <= variant.players(), "last_turns", "more than one for each seat")?;
        self.check_discards(variant)?;
        let (hands, absent) = self.hands.split_at(self.players(variant));
        require(absent.iter().all(|hand| *hand == Hand::default()), "hands", "no such seat")?;
        hands.iter().try_for_each(|hand| hand.check_slots(variant))
    }

    fn check_discards(&self, variant: &Variant) -> Result<(), PositionError> {
        let all = u64::MAX >> (64 - u32::from(variant.deck_size()));
        require(self.discards & !all == 0, "discards", "unknown copies")?;
        let is_filled = |&field: &u64| {
            let copies = (self.discards & field) >> field.trailing_zeros();
            copies & (copies + 1) == 0
        };
        let mut fields = variant.tables().copy_field[..variant.num_card_kinds()].iter();
        require(fields.all(is_filled), "discards", "the copies of a card have a gap")
    }

    fn players(&self, variant: &Variant) -> usize {
        variant.players().into()
    }
}

impl Hand {
    /// Checks the number of cards, that they exist, and that the other slots are empty.
    fn check_slots(&self, variant: &Variant) -> Result<(), PositionError> {
        require(self.size <= variant.hand_size(), "hands", "too many cards")?;
        let known = self.cards().iter().all(|&card| usize::from(card) < variant.num_card_kinds());
        require(known, "hands", "unknown card")?;
        let size = usize::from(self.size);
        let empty = self.cards[size..].iter().all(|&card| card == 0)
            && self.knowledge[size..].iter().all(|knowledge| knowledge.bits() == 0);
        require(empty, "hands", "a slot beyond the last card is not empty")
    }
}
