//! The last turn: taken back and played again, it leads to the same position.

use super::cards::DrawnCards;
use super::tally::Tally;
use crate::rules::deck::Deck;
use crate::rules::event::Event;
use crate::rules::hand::Hand;
use crate::rules::knowledge::Knowledge;
use crate::rules::limits::MAX_HAND_SIZE;
use crate::rules::moves::Move;
use crate::rules::position::Position;
use crate::rules::position_error::{PositionError, require};
use crate::rules::variant::Variant;

/// The top card of a deck, if it has one.
struct TopCard(Option<u8>);

impl Deck for TopCard {
    fn draw(&mut self, _: &Variant) -> Option<u8> {
        self.0.take()
    }
}

impl Position {
    pub(super) fn check_last_turn(
        &self,
        variant: &Variant,
        tally: Tally,
        drawn: &DrawnCards,
    ) -> Result<(), PositionError> {
        let Some(event) = self.last_event else {
            let is_first = tally.hints + tally.taken == 0;
            return require(is_first, "last_event", "missing, although a turn was played");
        };
        require(tally.hints + tally.taken > 0, "last_event", "before the first turn")?;
        let seat = variant.seat_after(self.current_player(), usize::from(variant.players()) - 1);
        require(usize::from(event.seat) == seat, "last_event", "not the seat before")?;
        let draws = event.card.is_some() && tally.taken == tally.drawn;
        let top = drawn.last().filter(|_| draws);
        let expected = top.map(|card| variant.tables().card[usize::from(card)]);
        require(event.drawn == expected, "last_event", "another card was drawn")?;
        let again = self.before(variant, &event).filter(|before| {
            before.find_ending(variant).is_none() && before.is_legal(variant, event.played)
        });
        let Some(mut again) = again else {
            return require(false, "last_event", "the move was not legal");
        };
        again.apply_unchecked(variant, event.played, &mut TopCard(top));
        // The ending is found anew by a check of its own.
        again.ending = self.ending;
        require(again == *self, "last_event", "the move leads to another position")
    }

    /// The position before the last turn, but for what was known about cards that have left their
    /// hand since or were hinted in that turn. `None` if there is no such position.
    fn before(&self, variant: &Variant, event: &Event) -> Option<Position> {
        let mut before = Position { ending: None, current_player: event.seat, ..*self };
        let Some(card) = event.card else {
            before.information_tokens += 1;
            before.last_turns += u8::from(self.deck_size == 0 && !variant.crowning_piece());
            return Some(before);
        };
        let (Move::Discard { slot } | Move::Play { slot } | Move::AnnouncedPlay { slot, .. }) =
            event.played
        else {
            return None;
        };
        if !variant.has_card(card) {
            return None;
        }
        let index = variant.card_index(card);
        let hand = &mut before.hands[usize::from(event.seat)];
        if event.drawn.is_some() {
            before.deck_size += 1;
            hand.size.checked_sub(1)?;
            hand.remove(usize::from(hand.size) - 1);
        } else {
            before.last_turns += u8::from(!variant.crowning_piece());
        }
        hand.insert(slot.into(), index as u8, Knowledge::unhinted(variant))?;
        before.information_tokens = self.information_tokens.checked_sub(event.regained)?;
        if event.added {
            let height = &mut before.fireworks[card.suit.index()];
            *height = height.checked_sub(1)?;
        } else {
            let discarded = self.discards & variant.tables().copy_field[index];
            before.discards ^= 1 << discarded.checked_ilog2()?;
            before.life_tokens += u8::from(event.is_misplay());
        }
        Some(before)
    }
}

impl Hand {
    /// Puts a card into a slot; the newer ones move up. `None` if there is no such slot.
    fn insert(&mut self, slot: usize, card: u8, knowledge: Knowledge) -> Option<()> {
        let size = usize::from(self.size);
        if slot > size || size == MAX_HAND_SIZE {
            return None;
        }
        self.push(card, knowledge);
        self.cards[slot..=size].rotate_right(1);
        self.knowledge[slot..=size].rotate_right(1);
        Some(())
    }
}
