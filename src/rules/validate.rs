//! Validation of stored positions.

use super::card::Card;
use super::hand::Hand;
use super::limits::MAX_CARD_KINDS;
use super::position::Position;
use super::position_error::PositionError;
use super::variant::Variant;

fn require(holds: bool, problem: &'static str) -> Result<(), PositionError> {
    if holds { Ok(()) } else { Err(PositionError(problem)) }
}

impl Position {
    /// Checks a stored position against the variant and the copies left in its deck.
    ///
    /// # Errors
    /// [`PositionError`] when no game of the variant can reach the position.
    pub fn validate(&self, variant: &Variant, deck_left: u64) -> Result<(), PositionError> {
        self.validate_table(variant)?;
        for (seat, hand) in self.hands.iter().enumerate() {
            self.validate_hand(variant, seat, hand)?;
        }
        self.validate_cards(variant, deck_left)?;
        self.validate_last_event(variant)?;
        require(self.ending == self.find_ending(variant), "wrong ending")
    }

    fn validate_table(&self, variant: &Variant) -> Result<(), PositionError> {
        let (fireworks, absent) = self.fireworks.split_at(variant.colors().into());
        let information = self.information_tokens <= variant.max_information_tokens();
        require(fireworks.iter().all(|&height| height <= variant.ranks()), "firework too high")?;
        require(absent.iter().all(|&height| height == 0), "unknown firework")?;
        require(information, "too many information tokens")?;
        require(self.life_tokens <= variant.max_life_tokens(), "too many life tokens")?;
        require(self.current_player < variant.players(), "no such seat")?;
        require(self.last_turns <= variant.players(), "too many last turns")?;
        require(self.deck_size == 0 || self.last_turns == variant.players(), "last turns too early")
    }

    fn validate_hand(
        &self,
        variant: &Variant,
        seat: usize,
        hand: &Hand,
    ) -> Result<(), PositionError> {
        let seated = seat < variant.players().into();
        let full = if seated { variant.hand_size() } else { 0 };
        let complete = !seated || self.deck_size == 0 || hand.size == full;
        require(hand.size <= full && complete, "wrong hand size")?;
        let known = |&card: &u8| usize::from(card) < variant.num_card_kinds();
        require(hand.cards().iter().all(known), "unknown card in a hand")?;
        let width = variant.num_card_kinds() + usize::from(variant.colors() + variant.ranks());
        for (slot, knowledge) in hand.knowledge.iter().enumerate() {
            let held = slot < hand.size.into();
            let allowed = if held { (1 << width) - 1 } else { 0 };
            require(knowledge.bits() & !allowed == 0, "unknown knowledge of a card")?;
        }
        Ok(())
    }

    fn validate_cards(&self, variant: &Variant, deck_left: u64) -> Result<(), PositionError> {
        let unknown = !(u64::MAX >> (64 - u32::from(variant.deck_size())));
        require((deck_left | self.discards) & unknown == 0, "unknown copies")?;
        require(u32::from(self.deck_size) == deck_left.count_ones(), "wrong deck size")?;
        let mut held = [0; MAX_CARD_KINDS];
        for hand in &self.hands {
            hand.cards().iter().for_each(|&card| held[usize::from(card)] += 1);
        }
        let conserved = variant.card_kinds().zip(held).all(|(card, held)| {
            let field = variant.tables().copy_field[variant.card_index(card)];
            let played = self.fireworks[card.suit.index()] > card.rank.index() as u8;
            let away = (deck_left & field).count_ones() + (self.discards & field).count_ones();
            held + away + u32::from(played) == u32::from(variant.copies(card))
        });
        require(conserved, "the cards do not add up to the deck")
    }

    fn validate_last_event(&self, variant: &Variant) -> Result<(), PositionError> {
        let Some(event) = self.last_event else {
            return Ok(());
        };
        let known = |card: Option<Card>| card.is_none_or(|card| variant.has_card(card));
        let fits = event.seat < variant.players()
            && variant.seat_after(event.seat.into(), 1) == self.current_player()
            && variant.move_to_action(event.played).is_some()
            && u16::from(event.touched.0) < 1 << variant.hand_size()
            && event.regained <= 2
            && known(event.card)
            && known(event.drawn);
        require(fits, "impossible last event")
    }
}
