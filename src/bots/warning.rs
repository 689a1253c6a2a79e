//! What [`Value`](super::value::Value) and [`Holmes`](super::holmes::Holmes) share: the next
//! player is warned before it discards the last copy of a card.

use super::bot::Turn;
use super::notes::{HandNotes, Notes, hint_cards};
use super::pointing::{Harmless, Pointer, best_hint, best_pointer, pass};
use crate::rules::{CardSet, Hint, Move, Rank, SlotSet, Variant, View};

/// How hints are read by bots that warn.
pub(super) trait Convention {
    /// Slots that a colour hint may touch though they are not playable.
    fn harmless_by_color(variant: &Variant, hand: &HandNotes) -> SlotSet;

    /// Slots that a rank hint may touch though they are not playable.
    fn harmless_by_rank(variant: &Variant, hand: &HandNotes) -> SlotSet;

    /// Whether the hand's owner, told that the card in this slot is of one of these, would take
    /// that for a warning.
    fn is_suspected(notes: &Notes, hand: &HandNotes, slot: usize, cards: CardSet) -> bool;

    /// The slot of a card to be risked when nothing is playable and nobody needs a hint.
    fn risk(notes: &Notes, view: &View<'_>) -> Option<usize>;
}

impl HandNotes {
    /// The slot that the owner discards if nothing is said: none when it has something to play or
    /// something dead, or holds but last copies.
    pub(super) fn next_discard(&self) -> Option<usize> {
        let is_safe = !self.playable.is_empty() || !self.dead.is_empty();
        if is_safe { None } else { (self.held - self.critical).oldest() }
    }
}

/// Takes down what a hint says and means to the seat that got it.
pub(super) fn read<C: Convention>(notes: &mut Notes, turn: &Turn<'_>, target: usize, hint: Hint) {
    let (variant, touched) = (turn.before.variant(), turn.event.touched);
    let cards = hint_cards(variant, hint);
    match hint {
        Hint::Color(_) => read_color::<C>(notes, variant, target, cards, touched),
        Hint::Rank(_) => read_rank::<C>(notes, variant, target, cards, touched),
    }
}

/// All touched cards are playable, but for those of which the owner knows better.
fn read_color<C: Convention>(
    notes: &mut Notes,
    variant: &Variant,
    target: usize,
    cards: CardSet,
    touched: SlotSet,
) {
    let hand = &mut notes.hands[target];
    let news = touched - C::harmless_by_color(variant, hand);
    hand.narrow(touched, cards);
    // Somebody who hints by other rules may name a colour that is complete.
    let next = notes.tally.playable & cards;
    if !next.is_empty() {
        hand.narrow(news, next);
    }
}

/// A warning if the card that would be discarded next may be a last copy. Otherwise all touched
/// cards are playable, but for those of which the owner knows better.
fn read_rank<C: Convention>(
    notes: &mut Notes,
    variant: &Variant,
    target: usize,
    cards: CardSet,
    touched: SlotSet,
) {
    let hand = &notes.hands[target];
    let is_warning =
        |&slot: &usize| touched.contains(slot) && C::is_suspected(notes, hand, slot, cards);
    let warned = hand.next_discard().filter(is_warning).map(SlotSet::of);
    let news = touched - C::harmless_by_rank(variant, hand);
    let Notes { tally, hands, .. } = notes;
    let hand = &mut hands[target];
    match warned {
        Some(slot) => {
            hand.critical |= slot;
            // The warning says that the card is still needed.
            if (cards - tally.played).is_subset(tally.playable) {
                hand.playable |= slot;
            }
        }
        // Somebody who hints by other rules may name a rank that is complete.
        None if cards.is_subset(tally.played) => {}
        None => hand.playable |= news,
    }
    hand.narrow(touched, cards);
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
    let chosen = own.dead.oldest().or_else(|| (own.held - own.critical).oldest());
    chosen.or_else(|| own.highest(view.variant(), own.held)).unwrap_or_default()
}

fn pointer<C: Convention>(notes: &Notes, view: &View<'_>, offset: usize) -> Option<Pointer> {
    let hand = &notes.hands[view.seat(offset)];
    let playable = notes.tally.playable;
    let harmless = || Harmless {
        color: C::harmless_by_color(view.variant(), hand),
        rank: C::harmless_by_rank(view.variant(), hand),
    };
    let avoided = || misleading_rank::<C>(notes, view, offset);
    best_pointer(view, offset, hand, playable, harmless, avoided)
}

/// The rank that a teammate would take for a warning.
fn misleading_rank<C: Convention>(notes: &Notes, view: &View<'_>, offset: usize) -> Option<Rank> {
    let hand = &notes.hands[view.seat(offset)];
    let slot = hand.next_discard()?;
    let rank = card_at(view, offset, slot)?.1;
    let cards = hint_cards(view.variant(), Hint::Rank(rank));
    C::is_suspected(notes, hand, slot, cards).then_some(rank)
}

/// Keeps the next player from discarding the last copy of a card, by something to play or else by
/// the card's rank.
fn warn<C: Convention>(notes: &Notes, view: &View<'_>) -> Option<Move> {
    let hand = &notes.hands[view.seat(1)];
    let slot = hand.next_discard()?;
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
