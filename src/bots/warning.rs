//! What [`Value`](super::value::Value) and [`Holmes`](super::holmes::Holmes) share: the next
//! player is warned before it discards the last copy of a card.

use super::notes::{HandNotes, Notes};
use super::pointing::{Harmless, Pointer, best_hint, best_pointer, pass};
use crate::rules::{CardSet, Hint, Move, Rank, SlotSet, View};

/// How hints are read by bots that warn.
pub(super) trait Convention {
    /// Slots that a hint may touch though they are not playable.
    fn harmless(hand: &HandNotes) -> Harmless;

    /// Whether the hand's owner, told that the card in this slot is of one of these, would take
    /// that for a warning.
    fn is_suspected(notes: &Notes, hand: &HandNotes, slot: usize, cards: CardSet) -> bool;

    /// The slot of a card to be risked when nothing is playable and nobody needs a hint.
    fn risk(notes: &Notes, view: &View<'_>) -> Option<usize>;
}

impl HandNotes {
    /// The slot that the owner of a hand of this size discards if nothing is said: none when it
    /// has something to play or something dead, or holds but last copies.
    pub(super) fn next_discard(&self, size: usize) -> Option<usize> {
        let is_safe = !self.playable.is_empty() || !self.dead.is_empty();
        if is_safe { None } else { (SlotSet::first_slots(size) - self.critical).oldest() }
    }
}

/// The move of a bot that warns.
pub(super) fn act<C: Convention>(notes: &Notes, view: &View<'_>) -> Move {
    let own = &notes.hands[view.observer()];
    let has_token = view.information_tokens() > 0;
    if has_token && let Some(hint) = warn::<C>(notes, view) {
        return hint;
    }
    if let Some(slot) = own.lowest_playable(view.variant()) {
        return Move::Play { slot: slot as u8 };
    }
    if has_token && let Some(hint) = best_hint(view, |offset| pointer::<C>(notes, view, offset)) {
        return hint;
    }
    if let Some(slot) = C::risk(notes, view) {
        return Move::Play { slot: slot as u8 };
    }
    if view.information_tokens() == view.variant().max_information_tokens()
        && let Some(hint) = pass(view)
    {
        return hint;
    }
    Move::Discard { slot: discard(own, view) as u8 }
}

/// A dead card, or the oldest that may have another copy, or the one that blocks least.
fn discard(own: &HandNotes, view: &View<'_>) -> usize {
    let slots = SlotSet::first_slots(view.hand_size(0));
    let chosen = own.dead.oldest().or_else(|| (slots - own.critical).oldest());
    chosen.or_else(|| own.highest(view.variant(), slots)).unwrap_or_default()
}

fn pointer<C: Convention>(notes: &Notes, view: &View<'_>, offset: usize) -> Option<Pointer> {
    let hand = &notes.hands[view.seat(offset)];
    let playable = notes.tally.playable;
    let avoided = || misleading_rank::<C>(notes, view, offset);
    best_pointer(view, offset, hand, playable, C::harmless(hand), avoided)
}

/// The rank that a teammate would take for a warning.
fn misleading_rank<C: Convention>(notes: &Notes, view: &View<'_>, offset: usize) -> Option<Rank> {
    let hand = &notes.hands[view.seat(offset)];
    let slot = hand.next_discard(view.hand_size(offset))?;
    let rank = card_at(view, offset, slot)?.1;
    let cards = CardSet(view.variant().tables().rank_cards[rank.index()]);
    C::is_suspected(notes, hand, slot, cards).then_some(rank)
}

/// Keeps the next player from discarding the last copy of a card, by something to play or else by
/// the card's rank.
fn warn<C: Convention>(notes: &Notes, view: &View<'_>) -> Option<Move> {
    let hand = &notes.hands[view.seat(1)];
    let slot = hand.next_discard(view.hand_size(1))?;
    let (index, rank) = card_at(view, 1, slot)?;
    if !notes.tally.critical().contains(index) {
        return None;
    }
    let pointer = pointer::<C>(notes, view, 1);
    let hint = pointer.map_or(Hint::Rank(rank), |pointer| pointer.hint);
    Some(Move::Hint { offset: 1, hint })
}

/// The index and rank of a teammate's card.
fn card_at(view: &View<'_>, offset: usize, slot: usize) -> Option<(usize, Rank)> {
    let index = usize::from(*view.hand_indices(offset).get(slot)?);
    Some((index, view.variant().tables().card[index].rank))
}
