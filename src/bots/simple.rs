use super::bot::{Bot, Turn};
use super::notes::Notes;
use super::pointing::{Harmless, any_move, best_hint, best_pointer, looks_like_a_pass, pass};
use crate::rules::{CardSet, Chance, Event, Hint, Move, SlotSet, Variant, View};

/// Plays what hints point out as playable, gives such hints, and otherwise discards its oldest
/// card: `SimpleBot` of <https://github.com/Quuxplusone/Hanabi>. Plays every variant; where a play
/// may announce its colour, it does so when a hint told the colour.
#[derive(Clone, Debug)]
pub struct Simple {
    notes: Notes,
}

impl Simple {
    /// A bot that waits for its first game.
    #[must_use]
    pub fn new(variant: &Variant) -> Simple {
        Simple { notes: Notes::new(variant) }
    }

    fn read_hint(&mut self, turn: &Turn<'_>, target: usize, hint: Hint) {
        let (variant, hand) = (turn.before.variant(), &mut self.notes.hands[target]);
        let (tables, touched) = (variant.tables(), turn.event.touched);
        let cards = match hint {
            Hint::Color(suit) => self.notes.tally.playable.0 & tables.suit_cards[suit.index()],
            Hint::Rank(_) if looks_like_a_pass(turn) => return,
            Hint::Rank(rank) => tables.rank_cards[rank.index()],
        };
        // Somebody who hints by other rules may name a colour that is complete.
        if cards != 0 {
            hand.narrow(touched, CardSet(cards));
            hand.rank_known |= touched;
            hand.playable |= touched;
        }
    }

    fn see_card(&mut self, variant: &Variant, event: Event, slot: u8) {
        self.notes.remove(variant, event.seat.into(), slot.into());
        let Some(card) = event.card else { return };
        self.notes.tally.take(variant, card, event.added);
        let is_discard = matches!(event.played, Move::Discard { .. });
        if !is_discard && variant.copies(card) > 1 {
            self.notes.doubt(variant.card_index(card), |_| SlotSet::EMPTY);
        }
    }

    fn play(&self, view: &View<'_>) -> Option<Move> {
        let (variant, hand) = (view.variant(), &self.notes.hands[view.observer()]);
        let slot = hand.lowest_playable(variant)?;
        let is_certain = hand.possible[slot].single().is_some();
        Some(if is_certain && variant.timed_display() {
            Move::AnnouncedPlay { slot: slot as u8, suit: hand.likely(variant, slot).suit }
        } else {
            Move::Play { slot: slot as u8 }
        })
    }

    fn hint(&self, view: &View<'_>) -> Option<Move> {
        if view.information_tokens() == 0 {
            return None;
        }
        best_hint(view, |offset| {
            let hand = &self.notes.hands[view.seat(offset)];
            let playable = self.notes.tally.playable;
            best_pointer(view, offset, hand, playable, Harmless::default(), || None)
        })
    }
}

impl Bot for Simple {
    fn start(&mut self, view: &View<'_>, _: Chance) {
        self.notes.start(view.variant());
    }

    fn observe(&mut self, turn: &Turn<'_>) {
        let (variant, event) = (turn.before.variant(), turn.event);
        match event.played {
            Move::Hint { offset, hint } => {
                self.read_hint(turn, variant.seat_after(event.seat.into(), offset.into()), hint);
            }
            Move::Discard { slot } | Move::Play { slot } | Move::AnnouncedPlay { slot, .. } => {
                self.see_card(variant, event, slot);
            }
        }
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        if let Some(played) = self.play(view).or_else(|| self.hint(view)) {
            return played;
        }
        let discard = Move::Discard { slot: 0 };
        if view.is_legal(discard) {
            return discard;
        }
        // Without tokens, or beside empty hands, nothing may be left but what is legal at all.
        let played = pass(view).filter(|&played| view.is_legal(played));
        played.unwrap_or_else(|| any_move(view))
    }
}
