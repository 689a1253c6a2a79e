//! Checks of a stored position: each number is in its range, and the cards are those of the
//! variant.
//!
//! A position that passes can be played, observed and given to bots without a panic. Whether a
//! sequence of turns leads to it is not checked.

use std::ops::RangeInclusive;

use thiserror::Error;

use crate::rules::cards::knowledge::Knowledge;
use crate::rules::cards::slot_set::SlotSet;
use crate::rules::game::hand::Hand;
use crate::rules::game::position::Position;
use crate::rules::game::rng::GameRng;
use crate::rules::limits::{MAX_COLORS, MAX_PLAYERS};
use crate::rules::small_index::Offset;
use crate::rules::turns::event::Event;
use crate::rules::turns::moves::Move;
use crate::rules::variants::variant::Variant;

/// A position that no game of the variant has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not a position of this variant: {field}: {problem}")]
pub(crate) struct PositionError {
    /// The part of the position that is wrong.
    pub field: &'static str,
    /// What is wrong with it.
    pub problem: &'static str,
}

/// The error for a field, unless the condition holds.
fn require(holds: bool, field: &'static str, problem: &'static str) -> Result<(), PositionError> {
    if holds { Ok(()) } else { Err(PositionError { field, problem }) }
}

impl Position {
    /// # Errors
    /// [`PositionError`] with the first field that is out of its range or contradicts the others.
    pub(crate) fn validate(&self, variant: &Variant) -> Result<(), PositionError> {
        let players = usize::from(variant.players());
        let seated = self.current_player.index() < players;
        require(seated, "current_player", "no such seat")?;
        let ranks = |suit| if suit < variant.colors().into() { variant.ranks() } else { 0 };
        let fit = (0..MAX_COLORS).all(|suit| self.fireworks[suit] <= ranks(suit));
        require(fit, "fireworks", "a stack is higher than the highest rank")?;
        let information = self.information_tokens <= variant.max_information_tokens();
        require(information, "information_tokens", "more than all")?;
        let lives = self.life_tokens <= variant.max_life_tokens();
        require(lives, "life_tokens", "more than all")?;
        let last_round = self.deck_size == 0 && !variant.crowning_piece();
        let turns = if last_round { 0..=players } else { players..=players };
        let counted = turns.contains(&self.last_turns.into());
        require(counted, "last_turns", "not the turns of a last round")?;
        self.check_discards(variant)?;
        for seat in 0..MAX_PLAYERS {
            self.hands[seat].check_slots(variant)?;
            let size = if seat < players { variant.hand_size() } else { 0 };
            let missing = size.checked_sub(self.hands[seat].size);
            let allowed = if seat < players { self.most_missing(variant, seat) } else { 0 };
            let fits = missing.is_some_and(|missing| missing <= allowed);
            require(fits, "hands", "too few or too many cards")?;
        }
        let held: u8 = self.hands.iter().map(|hand| hand.size).sum();
        let used = u32::from(held + self.fireworks_sum()) + self.discards.count_ones();
        // A card that is there too often takes no copy from the deck, which then has too many.
        let rest = self.remaining_deck(variant, GameRng::for_samples(0)).size;
        let conserved = used + u32::from(self.deck_size) == u32::from(variant.deck_size())
            && rest == self.deck_size;
        require(conserved, "hands", "with the other cards not the variant's deck")?;
        self.check_last_event(variant)?;
        require(self.ending == self.find_ending(variant), "ending", "the rules say otherwise")
    }

    /// Checks that the last move exists, and that what it showed fits it.
    fn check_last_event(&self, variant: &Variant) -> Result<(), PositionError> {
        let Some(event) = self.last_event else { return Ok(()) };
        let exists = variant.move_to_action(event.played).is_some();
        require(exists, "last_event", "not a move of the variant")?;
        let before = Offset::new_unchecked(usize::from(variant.players()) - 1);
        let acted = event.seat == variant.seat_after_unchecked(self.current_player, before);
        require(acted, "last_event", "of a seat that did not act")?;
        let mut cards = event.card.into_iter().chain(event.drawn);
        require(cards.all(|card| variant.has_card(card)), "last_event", "unknown card")?;
        let is_hint = matches!(event.played, Move::Hint { .. });
        let is_play = matches!(event.played, Move::Play { .. } | Move::AnnouncedPlay { .. });
        let shown = event.card.is_none() == is_hint && (is_hint || event.touched.is_empty());
        let fits = shown && (is_play || !event.added) && !(is_hint && event.drawn.is_some());
        require(fits, "last_event", "with a card or slots that do not fit its move")?;
        let regained = event.possibly_regained(variant);
        let is_regained = regained.contains(&event.regained);
        require(is_regained, "last_event", "with tokens that its move does not regain")?;
        let hand = SlotSet::first_slots(variant.hand_size().into());
        let are_slots = u8::from(event.touched) & !u8::from(hand) == 0;
        require(are_slots, "last_event", "slots that no hand has")
    }

    /// Checks that the discarded copies exist, and that those of each card fill its bits from the
    /// lowest.
    fn check_discards(&self, variant: &Variant) -> Result<(), PositionError> {
        let all = variant.tables().all_copies;
        require(self.discards & !all == 0, "discards", "unknown copies")?;
        let is_filled = |&field: &u64| {
            let copies = (self.discards & field) >> field.trailing_zeros();
            copies & (copies + 1) == 0
        };
        let mut fields = variant.tables().copy_field[..variant.num_card_kinds()].iter();
        require(fields.all(is_filled), "discards", "the copies of a card have a gap")
    }

    /// The greatest number of cards that a hand can lack: 0 while the deck has cards, then one more
    /// after each turn of its seat.
    fn most_missing(&self, variant: &Variant, seat: usize) -> u8 {
        let players = usize::from(variant.players());
        if self.deck_size > 0 {
            0
        } else if variant.crowning_piece() {
            variant.hand_size()
        } else {
            let played = players - usize::from(self.last_turns);
            (1..=played).any(|back| (seat + back) % players == self.current_player.index()).into()
        }
    }
}

impl Event {
    /// The numbers of information tokens that the move can have regained.
    fn possibly_regained(&self, variant: &Variant) -> RangeInclusive<u8> {
        let highest = usize::from(variant.ranks()) - 1;
        let completed = self.added && self.card.is_some_and(|card| card.rank.index() == highest);
        match self.played {
            Move::Discard { .. } => 1..=1,
            Move::Hint { .. } => 0..=0,
            Move::Play { .. } => 0..=completed.into(),
            Move::AnnouncedPlay { .. } => 0..=u8::from(completed) + u8::from(self.added),
        }
    }
}

impl Hand {
    /// Checks that the cards exist, and that what is known about each is true of it.
    fn check_slots(&self, variant: &Variant) -> Result<(), PositionError> {
        require(self.size <= variant.hand_size(), "hands", "too few or too many cards")?;
        let kinds = variant.num_card_kinds();
        let known = self.cards().iter().all(|&card| usize::from(card) < kinds);
        require(known, "hands", "unknown card")?;
        let matches = self.cards().iter().zip(self.knowledge).all(|(&index, knowledge)| {
            let card = variant.card_unchecked(index);
            let plausible = Knowledge::unhinted(variant).bits();
            let hinted = Knowledge::full(variant, card).bits();
            knowledge.is_plausible(variant, card) && knowledge.bits() & !(plausible | hinted) == 0
        });
        require(matches, "knowledge", "not true of the card")
    }
}
