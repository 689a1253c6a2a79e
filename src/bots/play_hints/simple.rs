//! `simple`: `SimpleBot`.

use super::hand_notes::{TableNotes, hint_cards};
use super::play_hint::{Harmless, any_move, best_hint, best_play_hint, looks_like_a_pass, pass};
use crate::bots::bot::{Bot, Turn};
use crate::rules::{GameRng, Hint, Move, Seat, Slot, SlotSet, Variant, View};

/// `SimpleBot`: plays the cards that hints point out, gives such hints, and otherwise discards its
/// oldest card. Supports every variant. With timed display it announces the colour of a play if it
/// knows the card.
#[derive(Clone, Debug, Default)]
pub struct Simple {
    notes: TableNotes,
}

impl Simple {
    fn read_hint(&mut self, turn: &Turn<'_>, target: Seat, hint: Hint) {
        let cards = hint_cards(turn.before.variant(), hint);
        let meant = match hint {
            Hint::Color(_) => cards & self.notes.remaining.playable,
            Hint::Rank(_) => cards,
        };
        let hand = &mut self.notes.hands[target.index()];
        // A partner with another convention may hint a complete colour.
        if !meant.is_empty() {
            hand.narrow(turn.event.touched, meant);
            hand.playable |= turn.event.touched;
        }
    }

    fn see_card(&mut self, turn: &Turn<'_>, slot: Slot) {
        let (variant, event) = (turn.before.variant(), turn.event);
        self.notes.replace(&turn.before, event.seat, slot);
        let Some(card) = event.card else { return };
        self.notes.remaining.remove(variant, card, event.added);
        let is_discard = matches!(event.played, Move::Discard { .. });
        if !is_discard && variant.copies(card) > 1 {
            self.notes.unmark_copies(variant.card_index_unchecked(card), |_| SlotSet::EMPTY);
        }
    }

    fn play(&self, view: &View<'_>) -> Option<Move> {
        let (variant, hand) = (view.variant(), &self.notes.hands[view.observer().index()]);
        let slot = hand.lowest_playable(variant)?;
        let is_certain = hand.possible(slot).single().is_some();
        Some(if is_certain && variant.timed_display() {
            Move::AnnouncedPlay { slot, suit: hand.first_possible(variant, slot).suit }
        } else {
            Move::Play { slot }
        })
    }

    fn hint(&self, view: &View<'_>) -> Option<Move> {
        if !view.may_hint() {
            return None;
        }
        best_hint(view, |offset| {
            let hand = &self.notes.hands[view.seat(offset).index()];
            let playable = self.notes.remaining.playable;
            best_play_hint(view, offset, hand, playable, Harmless::default, || None)
        })
    }
}

impl Bot for Simple {
    fn is_deterministic(&self, _: &Variant) -> bool {
        true
    }

    fn start(&mut self, view: &View<'_>, _: GameRng) {
        self.notes.start(view.variant());
    }

    fn observe(&mut self, turn: &Turn<'_>) {
        let (variant, event) = (turn.before.variant(), turn.event);
        match event.played {
            Move::Hint { hint: Hint::Rank(_), .. } if looks_like_a_pass(turn) => {}
            Move::Hint { offset, hint } => {
                self.read_hint(turn, variant.seat_after_unchecked(event.seat, offset), hint);
            }
            Move::Discard { slot } | Move::Play { slot } | Move::AnnouncedPlay { slot, .. } => {
                self.see_card(turn, slot);
            }
        }
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        if let Some(played) = self.play(view).or_else(|| self.hint(view)) {
            return played;
        }
        let discard = Move::Discard { slot: Slot::OLDEST };
        if view.is_legal(discard) {
            return discard;
        }
        // Without tokens, or with empty hands, no move of the convention may be legal.
        let played = pass(view).filter(|&played| view.is_legal(played));
        played.unwrap_or_else(|| any_move(view))
    }
}

#[cfg(test)]
mod tests {
    use super::Simple;
    use crate::bots::games::bot_table::BotTable;

    #[test]
    fn the_hint_with_the_most_playable_cards_is_given_and_they_are_played() {
        let moves = BotTable::<Simple>::deal(2, "R4 R4 Y4 Y4 G4 R2 R1 Y1 G1 G3").moves(4);
        assert_eq!(moves, ["hint +1 rank 1", "play slot 1", "hint +1 yellow", "play slot 1"]);
    }

    #[test]
    fn cards_that_a_pass_touches_are_not_played() {
        let moves = BotTable::<Simple>::deal(2, "R4 R4 Y4 Y4 G4 R2 R3 Y3 G3 G3").moves(2);
        assert_eq!(moves, ["hint +1 rank 2", "discard slot 0"]);
    }
}
