//! The behaviour that [`Value`](super::value::Value) and [`Holmes`](super::holmes::Holmes) share:
//! they warn the next player before it discards the last copy of a card.

use super::hand_notes::{HandNotes, TableNotes, hint_cards};
use super::play_hint::{Harmless, PlayHint, best_hint, best_play_hint, looks_like_a_pass, pass};
use crate::bots::bot::Turn;
use crate::rules::{Card, CardSet, Hint, Move, Offset, Rank, Seat, Slot, SlotSet, Variant, View};

/// The details in which the bots that warn differ.
pub(super) trait WarningConvention {
    /// Reads a hint to a seat, which may be a warning.
    fn read_hint(&mut self, turn: &Turn<'_>, target: Seat, hint: Hint);

    /// Notes a card that was played or discarded from a slot.
    fn see_card(&mut self, turn: &Turn<'_>, card: Card, slot: Slot);

    /// Slots that a colour hint may touch although they are not playable.
    fn harmless_by_color(variant: &Variant, hand: &HandNotes) -> SlotSet;

    /// Slots that a rank hint may touch although they are not playable.
    fn harmless_by_rank(variant: &Variant, hand: &HandNotes) -> SlotSet;

    /// Whether the owner would take it for a warning to learn that this slot holds one of these
    /// kinds.
    fn is_suspected(notes: &TableNotes, hand: &HandNotes, slot: Slot, cards: CardSet) -> bool;

    /// The slot to play at a risk when nothing is known to be playable and no hint is useful.
    fn risk(notes: &TableNotes, view: &View<'_>) -> Option<Slot>;
}

/// Updates a bot with a turn.
pub(super) fn observe(bot: &mut impl WarningConvention, turn: &Turn<'_>) {
    let (variant, event) = (turn.before.variant(), turn.event);
    match (event.played, event.card) {
        (Move::Hint { hint: Hint::Rank(_), .. }, _) if looks_like_a_pass(turn) => {}
        (Move::Hint { offset, hint }, _) => {
            bot.read_hint(turn, variant.seat_after_unchecked(event.seat, offset), hint);
        }
        (Move::Discard { slot } | Move::Play { slot }, Some(card)) => {
            bot.see_card(turn, card, slot);
        }
        _ => {}
    }
}

/// Updates the notes on the hinted hand with what the hint says and means.
pub(super) fn read<C: WarningConvention>(
    notes: &mut TableNotes,
    turn: &Turn<'_>,
    target: Seat,
    hint: Hint,
) {
    let (variant, touched) = (turn.before.variant(), turn.event.touched);
    let cards = hint_cards(variant, hint);
    match hint {
        Hint::Color(_) => read_color::<C>(notes, variant, target, cards, touched),
        Hint::Rank(_) => read_rank::<C>(notes, variant, target, cards, touched),
    }
}

/// All touched cards are playable, except the harmless ones.
fn read_color<C: WarningConvention>(
    notes: &mut TableNotes,
    variant: &Variant,
    target: Seat,
    cards: CardSet,
    touched: SlotSet,
) {
    let hand = &mut notes.hands[target.index()];
    let news = touched - C::harmless_by_color(variant, hand);
    hand.narrow(touched, cards);
    // A partner with another convention may hint a complete colour.
    let next = notes.remaining.playable & cards;
    if !next.is_empty() {
        hand.narrow(news, next);
    }
}

/// A warning, if the hint touches the next discard and that may be a last copy. Otherwise all
/// touched cards are playable, except the harmless ones.
fn read_rank<C: WarningConvention>(
    notes: &mut TableNotes,
    variant: &Variant,
    target: Seat,
    cards: CardSet,
    touched: SlotSet,
) {
    let hand = &notes.hands[target.index()];
    let is_warning =
        |&slot: &Slot| touched.contains(slot) && C::is_suspected(notes, hand, slot, cards);
    let warned = hand.next_discard().filter(is_warning).map(SlotSet::of);
    let news = touched - C::harmless_by_rank(variant, hand);
    let TableNotes { remaining, hands, .. } = notes;
    let hand = &mut hands[target.index()];
    match warned {
        Some(slot) => {
            hand.critical |= slot;
            // A warning implies that the card is still needed.
            if (cards - remaining.played).is_subset(remaining.playable) {
                hand.playable |= slot;
            }
        }
        // A partner with another convention may hint a complete rank.
        None if cards.is_subset(remaining.played) => {}
        None => hand.playable |= news,
    }
    hand.narrow(touched, cards);
}

/// The choice of a move.
pub(super) fn act<C: WarningConvention>(notes: &TableNotes, view: &View<'_>) -> Move {
    let own_notes = &notes.hands[view.observer().index()];
    let may_hint = view.may_hint();
    if may_hint && let Some(hint) = warn::<C>(notes, view) {
        return hint;
    }
    if let Some(slot) = own_notes.lowest_playable(view.variant()) {
        return Move::Play { slot };
    }
    if may_hint && let Some(hint) = best_hint(view, |offset| play_hint::<C>(notes, view, offset)) {
        return hint;
    }
    if let Some(slot) = C::risk(notes, view) {
        return Move::Play { slot };
    }
    if !view.may_discard()
        && let Some(hint) = pass(view)
    {
        return hint;
    }
    Move::Discard { slot: discard(own_notes, view) }
}

/// A dead card, otherwise the oldest that may have another copy, otherwise the one of the highest
/// rank.
fn discard(own_notes: &HandNotes, view: &View<'_>) -> Slot {
    let chosen = own_notes.dead.oldest().or_else(|| (own_notes.held - own_notes.critical).oldest());
    chosen.or_else(|| own_notes.highest(view.variant(), own_notes.held)).unwrap_or_default()
}

fn play_hint<C: WarningConvention>(
    notes: &TableNotes,
    view: &View<'_>,
    offset: Offset,
) -> Option<PlayHint> {
    let hand = &notes.hands[view.seat(offset).index()];
    let playable = notes.remaining.playable;
    let harmless = || Harmless {
        color: C::harmless_by_color(view.variant(), hand),
        rank: C::harmless_by_rank(view.variant(), hand),
    };
    let avoided = || misleading_rank::<C>(notes, view, offset);
    best_play_hint(view, offset, hand, playable, harmless, avoided)
}

/// The rank whose hint a teammate would take for a warning.
fn misleading_rank<C: WarningConvention>(
    notes: &TableNotes,
    view: &View<'_>,
    offset: Offset,
) -> Option<Rank> {
    let hand = &notes.hands[view.seat(offset).index()];
    let slot = hand.next_discard()?;
    let rank = card_at(view, offset, slot)?.1;
    let cards = hint_cards(view.variant(), Hint::Rank(rank));
    C::is_suspected(notes, hand, slot, cards).then_some(rank)
}

/// Keeps the next player from discarding the last copy of a card: by a hint that gives it a card to
/// play, or by the rank of the card.
fn warn<C: WarningConvention>(notes: &TableNotes, view: &View<'_>) -> Option<Move> {
    let hand = &notes.hands[view.seat(Offset::NEXT).index()];
    let slot = hand.next_discard()?;
    let (index, rank) = card_at(view, Offset::NEXT, slot)?;
    if !notes.remaining.critical().contains(index) {
        return None;
    }
    let play_hint = play_hint::<C>(notes, view, Offset::NEXT);
    let hint = play_hint.map_or(Hint::Rank(rank), |play_hint| play_hint.hint);
    Some(Move::Hint { offset: Offset::NEXT, hint })
}

/// The index and rank of a teammate's card.
fn card_at(view: &View<'_>, offset: Offset, slot: Slot) -> Option<(usize, Rank)> {
    let index = usize::from(*view.hand_indices(offset).get(slot.index())?);
    Some((index, view.variant().card_unchecked(index).rank))
}
