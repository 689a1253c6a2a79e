//! The convention that a hint points out playable cards, after Quuxplusone's bots.

use super::bot::Turn;
use super::notes::HandNotes;
use crate::rules::{CardSet, Hint, MAX_COLORS, MAX_RANKS, Move, Rank, SlotSet, View};

/// A hint that points out playable cards and no others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pointer {
    /// Cards that their owner did not know to be playable.
    pub news: usize,
    /// What is said.
    pub hint: Hint,
}

/// Slots whose cards are not playable but may be touched, as their owner knows better than to play
/// them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Harmless {
    /// By a colour hint.
    pub color: SlotSet,
    /// By a rank hint.
    pub rank: SlotSet,
}

/// The slots of a teammate's hand that hold one of these cards.
pub(super) fn slots_of(view: &View<'_>, offset: usize, cards: CardSet) -> SlotSet {
    let hand = view.hand_indices(offset).iter().enumerate();
    SlotSet(
        hand.fold(0, |slots, (slot, &card)| slots | u8::from(cards.contains(card.into())) << slot),
    )
}

/// The hint to a teammate that points out most playable cards that it does not know of: the first
/// such one of colours before ranks. The rank that `avoided` names would be misunderstood.
pub(super) fn best_pointer(
    view: &View<'_>,
    offset: usize,
    notes: &HandNotes,
    playable: CardSet,
    harmless: Harmless,
    avoided: impl FnOnce() -> Option<Rank>,
) -> Option<Pointer> {
    let ready = slots_of(view, offset, playable);
    let news = ready - notes.playable;
    if news.is_empty() {
        return None;
    }
    let (variant, hand) = (view.variant(), view.hand_indices(offset));
    let (mut by_suit, mut by_rank) = ([SlotSet::EMPTY; MAX_COLORS], [SlotSet::EMPTY; MAX_RANKS]);
    for (slot, &index) in hand.iter().enumerate() {
        let card = variant.tables().card[usize::from(index)];
        by_suit[card.suit.index()] |= SlotSet::of(slot);
        by_rank[card.rank.index()] |= SlotSet::of(slot);
    }
    let mut best: Option<Pointer> = None;
    let mut consider = |hint, touched: SlotSet, harmless| {
        let misleads = !(touched - ready - harmless).is_empty();
        let news = (touched & news).len();
        if !misleads && news > best.map_or(0, |best| best.news) {
            best = Some(Pointer { news, hint });
        }
    };
    for (suit, touched) in variant.suits().zip(by_suit) {
        consider(Hint::Color(suit), touched, harmless.color);
    }
    let avoided = avoided();
    for (rank, touched) in variant.rank_values().zip(by_rank) {
        if Some(rank) != avoided {
            consider(Hint::Rank(rank), touched, harmless.rank);
        }
    }
    best
}

/// The best hint of all that there are for teammates; among equals the next teammate's.
pub(super) fn best_hint(
    view: &View<'_>,
    pointer: impl Fn(usize) -> Option<Pointer>,
) -> Option<Move> {
    let mut best: Option<(u8, Pointer)> = None;
    for offset in 1..view.variant().players() {
        if let Some(pointer) = pointer(offset.into())
            && best.is_none_or(|(_, best)| pointer.news > best.news)
        {
            best = Some((offset, pointer));
        }
    }
    best.map(|(offset, pointer)| Move::Hint { offset, hint: pointer.hint })
}

/// The turn of somebody who has nothing to say but may not discard, as no information token is
/// spent: the previous player is told the rank of its oldest card. It means nothing.
pub(super) fn pass(view: &View<'_>) -> Option<Move> {
    let offset = view.variant().players() - 1;
    let oldest = view.hand(offset.into()).next()?;
    Some(Move::Hint { offset, hint: Hint::Rank(oldest.rank) })
}

/// A move when none that has a meaning is legal: some hint, or else a card is risked.
pub(super) fn any_move(view: &View<'_>) -> Move {
    let (variant, legal) = (view.variant(), view.legal_actions());
    let hints = variant.color_hint_base()..variant.announced_play_base();
    let hint = legal.iter().find(|action| hints.contains(action));
    let action = hint.or_else(|| legal.iter().next()).unwrap_or_default();
    variant.tables().moves[action]
}

/// Whether a hint may be no more than that.
pub(super) fn looks_like_a_pass(turn: &Turn<'_>) -> bool {
    let variant = turn.before.variant();
    let is_to_previous = matches!(
        turn.event.played,
        Move::Hint { offset, hint: Hint::Rank(_) } if offset == variant.players() - 1
    );
    is_to_previous
        && turn.event.touched.contains(0)
        && turn.before.information_tokens() == variant.max_information_tokens()
}
