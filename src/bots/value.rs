use super::bot::{Bot, Turn};
use super::notes::{HandNotes, Notes};
use super::pointing::{Harmless, looks_like_a_pass};
use super::warning::{Convention, act};
use crate::rules::{Card, CardSet, Chance, Event, Hint, Move, Rank, SlotSet, Suit, Variant, View};

/// Plays what hints point out as playable and warns before a last copy is discarded: `ValueBot` of
/// <https://github.com/Quuxplusone/Hanabi>. Plays the base game.
#[derive(Clone, Debug)]
pub struct Value {
    notes: Notes,
}

impl Value {
    /// A bot that waits for its first game.
    #[must_use]
    pub fn new(variant: &Variant) -> Value {
        Value { notes: Notes::new(variant) }
    }

    /// All touched cards are playable, but for those whose rank tells that they are not.
    fn read_color(&mut self, variant: &Variant, target: usize, suit: Suit, touched: SlotSet) {
        let Notes { tally, hands, .. } = &mut self.notes;
        let hand = &mut hands[target];
        let cards = CardSet(variant.tables().suit_cards[suit.index()]);
        hand.narrow(touched, cards);
        // Somebody who hints by other rules may name a colour that is complete.
        let next = tally.playable & cards;
        if !next.is_empty() {
            hand.narrow(touched - hand.rank_known, next);
            hand.rank_known |= touched;
        }
        let critical = tally.critical();
        for slot in touched.iter() {
            let (cards, slot) = (hand.possible[slot], SlotSet::of(slot));
            if cards.is_subset(tally.played) {
                hand.dead |= slot;
            } else if cards.is_subset(critical) {
                hand.critical |= slot;
            }
            if cards.is_subset(next) {
                hand.playable |= slot;
            }
        }
    }

    /// A warning if the card that would be discarded next may be a last copy, or else all touched
    /// cards are playable.
    fn read_rank(&mut self, view: &View<'_>, target: usize, rank: Rank, touched: SlotSet) {
        let hand = &self.notes.hands[target];
        let cards = CardSet(view.variant().tables().rank_cards[rank.index()]);
        let discard = hand.next_discard(view.hand_size(view.offset(target)));
        let warned = discard.filter(|&slot| {
            touched.contains(slot) && Value::is_suspected(&self.notes, hand, slot, cards)
        });
        let lowest = view.fireworks().iter().min().map_or(0, |&low| usize::from(low));
        let hand = &mut self.notes.hands[target];
        match warned.map(SlotSet::of) {
            Some(slot) => {
                hand.critical |= slot;
                // A last copy that is still needed, of the lowest rank that is: it is playable.
                hand.playable |= if rank.index() == lowest { slot } else { SlotSet::EMPTY };
            }
            None if rank.index() < lowest => {}
            None => hand.playable |= touched,
        }
        hand.narrow(touched, cards);
        hand.rank_known |= touched;
    }

    fn see_card(&mut self, turn: &Turn<'_>, card: Card, slot: u8) {
        let (variant, event) = (turn.before.variant(), turn.event);
        self.notes.remove(variant, event.seat.into(), slot.into());
        let index = variant.card_index(card);
        let is_last = self.notes.tally.critical().contains(index);
        self.notes.tally.take(variant, card, event.added);
        if event.added && !is_last {
            self.notes.doubt(index, |_| SlotSet::EMPTY);
        }
        let rank_cards = CardSet(variant.tables().rank_cards[card.rank.index()]);
        if event.added && rank_cards.is_subset(self.notes.tally.played) {
            self.bury(variant, card.rank);
        }
    }

    /// All cards of this rank are played: those known to be of it are dead.
    fn bury(&mut self, variant: &Variant, rank: Rank) {
        for hand in &mut self.notes.hands {
            for slot in hand.rank_known.iter() {
                if hand.likely(variant, slot).rank == rank {
                    hand.dead |= SlotSet::of(slot);
                }
            }
        }
    }
}

impl Convention for Value {
    fn harmless(hand: &HandNotes) -> Harmless {
        Harmless { color: hand.rank_known, rank: SlotSet::EMPTY }
    }

    fn is_suspected(notes: &Notes, _: &HandNotes, _: usize, cards: CardSet) -> bool {
        notes.tally.critical().meets(cards)
    }

    fn risk(_: &Notes, _: &View<'_>) -> Option<usize> {
        None
    }
}

impl Bot for Value {
    fn start(&mut self, view: &View<'_>, _: Chance) {
        self.notes.start(view.variant());
    }

    fn observe(&mut self, turn: &Turn<'_>) {
        let (variant, Event { seat, played, touched, card, .. }) =
            (turn.before.variant(), turn.event);
        match (played, card) {
            (Move::Hint { offset, hint }, _) => {
                let target = variant.seat_after(seat.into(), offset.into());
                match hint {
                    Hint::Color(suit) => self.read_color(variant, target, suit, touched),
                    Hint::Rank(_) if looks_like_a_pass(turn) => {}
                    Hint::Rank(rank) => self.read_rank(&turn.before, target, rank, touched),
                }
            }
            (Move::Discard { slot } | Move::Play { slot }, Some(card)) => {
                self.see_card(turn, card, slot);
            }
            _ => {}
        }
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        act::<Value>(&self.notes, view)
    }
}
