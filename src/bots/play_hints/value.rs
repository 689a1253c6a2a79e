//! `value`: `ValueBot`.

use super::hand_notes::{HandNotes, TableNotes, hint_cards};
use super::warning::{WarningConvention, act, observe, read};
use crate::bots::bot::{Bot, Turn};
use crate::bots::common::base_game;
use crate::rules::{
    Card, CardSet, GameRng, Hint, Move, Seat, Slot, SlotSet, UnsupportedVariantError, Variant, View,
};

/// `ValueBot`: plays the cards that hints point out, and warns before a last copy is discarded.
/// Supports the base game.
#[derive(Clone, Debug, Default)]
pub struct Value {
    notes: TableNotes,
}

impl Value {
    /// All kinds of a rank are played: slots known to be of this rank are dead.
    fn mark_dead(&mut self, cards: CardSet) {
        for hand in &mut self.notes.hands {
            hand.dead |= hand.within(cards);
        }
    }
}

impl WarningConvention for Value {
    fn read_hint(&mut self, turn: &Turn<'_>, target: Seat, hint: Hint) {
        read::<Value>(&mut self.notes, turn, target, hint);
        let TableNotes { remaining, hands, .. } = &mut self.notes;
        let (hand, touched) = (&mut hands[target.index()], turn.event.touched);
        if let Hint::Color(_) = hint {
            let dead = touched & hand.within(remaining.played);
            hand.dead |= dead;
            hand.critical |= (touched & hand.within(remaining.critical())) - dead;
            hand.playable |= touched & hand.within(remaining.playable);
        }
    }

    fn see_card(&mut self, turn: &Turn<'_>, card: Card, slot: Slot) {
        let (variant, event) = (turn.before.variant(), turn.event);
        self.notes.replace(&turn.before, event.seat, slot);
        let index = variant.card_index_unchecked(card);
        let is_last = self.notes.remaining.critical().contains(index);
        self.notes.remaining.remove(variant, card, event.added);
        if event.added && !is_last {
            self.notes.unmark_copies(index, |_| SlotSet::EMPTY);
        }
        let rank_cards = hint_cards(variant, Hint::Rank(card.rank));
        if event.added && rank_cards.is_subset(self.notes.remaining.played) {
            self.mark_dead(rank_cards);
        }
    }

    fn harmless_by_color(variant: &Variant, hand: &HandNotes) -> SlotSet {
        hand.rank_known(variant)
    }

    fn harmless_by_rank(_: &Variant, _: &HandNotes) -> SlotSet {
        SlotSet::EMPTY
    }

    fn is_suspected(notes: &TableNotes, _: &HandNotes, _: Slot, cards: CardSet) -> bool {
        notes.remaining.critical().intersects(cards)
    }

    fn risk(_: &TableNotes, _: &View<'_>) -> Option<Slot> {
        None
    }
}

impl Bot for Value {
    fn check_variant(&self, variant: &Variant) -> Result<(), UnsupportedVariantError> {
        base_game::check("value", variant)
    }

    fn is_deterministic(&self, _: &Variant) -> bool {
        true
    }

    fn start(&mut self, view: &View<'_>, _: GameRng) {
        self.notes.start(view.variant());
    }

    fn observe(&mut self, turn: &Turn<'_>) {
        observe(self, turn);
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        act::<Value>(&self.notes, view)
    }
}

#[cfg(test)]
mod tests {
    use super::Value;
    use crate::bots::games::bot_table::BotTable;

    #[test]
    fn the_next_player_is_warned_of_a_last_copy_and_keeps_it() {
        let hands = "R4 R4 Y4 Y4 G4 B5 R3 Y2 G3 G3 R2 R3 Y3 G2 W3";
        let moves = BotTable::<Value>::deal(3, hands).moves(2);
        assert_eq!(moves, ["hint +1 rank 5", "discard slot 1"]);
    }
}
