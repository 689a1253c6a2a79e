//! `holmes`: `HolmesBot`.

use super::hand_notes::{HandNotes, RemainingCopies, TableNotes, hint_cards};
use super::warning::{WarningConvention, act, observe, read};
use crate::bots::bot::{Bot, Turn};
use crate::bots::common::base_game;
use crate::bots::common::copy_counts::CopyCounts;
use crate::rules::{
    Card, CardSet, GameRng, Hint, Move, Seat, Slot, SlotSet, UnsupportedVariantError, Variant, View,
};

/// `HolmesBot`: plays and warns as [`Value`](super::value::Value) does, and deduces the identity of
/// cards from the common knowledge. Supports the base game.
#[derive(Clone, Debug, Default)]
pub struct Holmes {
    notes: TableNotes,
    /// Whether there were turns since the last deduction.
    is_behind: bool,
    /// The deductions that all slots already reflect.
    deductions: Deductions,
}

impl Holmes {
    /// Repeats until a fixed point: known cards leave fewer copies for the other slots, which may
    /// make more cards known.
    fn infer(&mut self, players: usize) {
        if !std::mem::take(&mut self.is_behind) {
            return;
        }
        let hands = &mut self.notes.hands[..players];
        loop {
            let deductions = Deductions::new(&self.notes.remaining, certain_copies(hands));
            if !deductions.is_more_than(&self.deductions) {
                return;
            }
            self.deductions = deductions;
            let mut is_news = false;
            for hand in &mut *hands {
                hand.exclude_from_uncertain(deductions.gone);
                is_news |= deductions.mark(hand);
            }
            if !is_news {
                return;
            }
        }
    }
}

/// The copies in slots of known kind.
fn certain_copies(hands: &[HandNotes]) -> CopyCounts {
    let mut certain = CopyCounts::default();
    for hand in hands {
        for slot in hand.certain.iter() {
            certain.add_up_to_three(hand.possible(slot));
        }
    }
    certain
}

/// The status of all kinds by common knowledge, from which conclusions about slots follow.
#[derive(Clone, Copy, Debug, Default)]
struct Deductions {
    /// Kinds that no slot of unknown kind can hold: all remaining copies are in slots of known
    /// kind.
    gone: CardSet,
    played: CardSet,
    playable: CardSet,
    critical: CardSet,
}

impl Deductions {
    fn new(remaining: &RemainingCopies, certain: CopyCounts) -> Deductions {
        let RemainingCopies { played, playable, left } = *remaining;
        let (gone, critical) = (certain.at_least(left), remaining.critical());
        Deductions { gone, played, playable, critical }
    }

    /// Whether a slot that reflects `others` may change.
    fn is_more_than(&self, others: &Deductions) -> bool {
        let gains = (self.gone - others.gone)
            | (self.played - others.played)
            | (self.playable - others.playable)
            | (self.critical - others.critical);
        // For a card that was just drawn, every remaining kind is possible.
        !gains.is_empty() || CardSet(!self.gone.0).is_subset(self.marked())
    }

    /// The kinds that cause a mark on slots that certainly hold one of them.
    fn marked(&self) -> CardSet {
        self.played | self.playable | self.critical
    }

    /// Restricts slots to what their marks imply, and marks slots whose possible kinds are all
    /// dead, critical or playable, or whose kind is known. Returns whether the known slots changed.
    fn mark(&self, hand: &mut HandNotes) -> bool {
        let before = hand.certain;
        hand.exclude(hand.playable - before, CardSet(!self.playable.0));
        hand.exclude(hand.critical - before, CardSet(!self.critical.0));
        let concerned = hand.within_or_certain(self.marked());
        for slot in (concerned - (hand.dead & before)).iter() {
            self.mark_slot(hand, slot);
        }
        hand.certain != before
    }

    fn mark_slot(&self, hand: &mut HandNotes, slot: Slot) {
        let (cards, slot) = (hand.possible(slot), SlotSet::of(slot));
        if cards.single().is_some() {
            hand.certain |= slot;
        }
        if cards.is_subset(self.played) {
            hand.dead |= slot - hand.playable - hand.critical;
        } else if cards.is_subset(self.critical) {
            hand.critical |= slot;
        }
        if cards.is_subset(self.playable) {
            hand.playable |= slot;
        }
    }
}

impl WarningConvention for Holmes {
    fn read_hint(&mut self, turn: &Turn<'_>, target: Seat, hint: Hint) {
        self.infer(turn.before.variant().players().into());
        read::<Holmes>(&mut self.notes, turn, target, hint);
        let hand = &mut self.notes.hands[target.index()];
        hand.exclude(hand.held - turn.event.touched, hint_cards(turn.before.variant(), hint));
        // The marks refer to the current stacks.
        let deductions = Deductions::new(&self.notes.remaining, CopyCounts::default());
        // A hint by another convention may contradict an earlier certainty.
        let before = std::mem::take(&mut hand.certain);
        deductions.mark(hand);
        self.is_behind |= hand.certain != before;
    }

    fn see_card(&mut self, turn: &Turn<'_>, card: Card, slot: Slot) {
        let (variant, event) = (turn.before.variant(), turn.event);
        let index = variant.card_index_unchecked(card);
        let is_last = self.notes.remaining.critical().contains(index);
        self.notes.replace(&turn.before, event.seat, slot);
        self.notes.hands[event.seat.index()].exclude_from_uncertain(self.deductions.gone);
        self.notes.remaining.remove(variant, card, event.added);
        if event.added && !is_last {
            self.notes.unmark_copies(index, |hand| hand.critical);
        }
        self.is_behind = true;
    }

    fn harmless_by_color(variant: &Variant, hand: &HandNotes) -> SlotSet {
        hand.rank_known(variant) | hand.dead
    }

    fn harmless_by_rank(variant: &Variant, hand: &HandNotes) -> SlotSet {
        hand.suit_known(variant) | hand.dead
    }

    fn is_suspected(notes: &TableNotes, hand: &HandNotes, slot: Slot, cards: CardSet) -> bool {
        notes.remaining.critical().intersects(hand.possible(slot) & cards)
    }

    /// The newest slot of unknown kind that is not dead, once the deck is nearly empty.
    fn risk(notes: &TableNotes, view: &View<'_>) -> Option<Slot> {
        let own_notes = &notes.hands[view.observer().index()];
        let unclear = own_notes.held - own_notes.dead - own_notes.certain;
        if view.deck_size() <= 1 { unclear.newest() } else { None }
    }
}

impl Bot for Holmes {
    fn check_variant(&self, variant: &Variant) -> Result<(), UnsupportedVariantError> {
        base_game::check("holmes", variant)
    }

    fn is_deterministic(&self, _: &Variant) -> bool {
        true
    }

    fn start(&mut self, view: &View<'_>, _: GameRng) {
        *self = Holmes::default();
        self.notes.start(view.variant());
    }

    fn observe(&mut self, turn: &Turn<'_>) {
        observe(self, turn);
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        self.infer(view.variant().players().into());
        act::<Holmes>(&self.notes, view)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Parameters;

    #[test]
    fn known_cards_are_excluded_from_other_slots() {
        let variant = Variant::new(Parameters::default()).unwrap();
        let mut holmes = Holmes::default();
        holmes.notes.start(&variant);
        let [red, yellow, green] = [4, 9, 14].map(CardSet::of);
        let hands = &mut holmes.notes.hands;
        hands[0].narrow(SlotSet::of(Slot::ALL[0]), red);
        hands[0].narrow(SlotSet::of(Slot::ALL[1]), red | yellow);
        hands[1].narrow(SlotSet::of(Slot::ALL[2]), red | yellow | green);
        holmes.is_behind = true;
        holmes.infer(2);
        let hands = &holmes.notes.hands;
        assert_eq!(hands[0].possible(Slot::ALL[1]), yellow);
        assert_eq!(hands[1].possible(Slot::ALL[2]), green);
        assert_eq!(hands[1].critical, SlotSet::of(Slot::ALL[2]));
        assert_eq!(hands[1].possible(Slot::ALL[0]).len(), 22);
    }
}
