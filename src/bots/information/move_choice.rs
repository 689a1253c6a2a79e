//! The choice of a move.

use super::hint_messages::HintMessages;
use super::private_knowledge::PrivateKnowledge;
use super::public_knowledge::PublicKnowledge;
use crate::rules::{Move, Slot, View};

/// The choice of a move. Applies the message of the move to `public`. Returns `None` if no hint
/// encodes the message that would have to be sent.
pub(super) fn choose(public: &mut PublicKnowledge, view: &View<'_>) -> Option<Move> {
    let private = PrivateKnowledge::new(public, view);
    let may_risk = view.may_misplay() && private.can_spare_turns();
    let risky_play = || private.risky_play().filter(|_| may_risk);
    if let Some(slot) = private.best_play().or_else(risky_play) {
        return Some(Move::Play { slot: Slot::new_unchecked(slot) });
    }
    let useless = private.own_hand.useless(&public.left);
    if wants_hint(public, &private, view, !useless.is_empty()) {
        let messages = HintMessages::of_hints(public, 0);
        let known = *public;
        let message = public.send(view, messages.total);
        return messages.hint(&known, view, message);
    }
    let known_useless = public.hands[0].useless(&public.left);
    let least_needed =
        useless.oldest().unwrap_or_else(|| Slot::new_unchecked(private.least_needed()));
    if view.may_hint() {
        note_missing_hint(public, 0);
    }
    let slot = if known_useless.len() > 1 {
        let message = public.send(view, known_useless.len());
        known_useless.iter().nth(message).unwrap_or(least_needed)
    } else {
        least_needed
    };
    Some(Move::Discard { slot })
}

/// Whether to give a hint rather than to discard. The others draw conclusions from a discard, so
/// the order of these conditions is part of the convention.
fn wants_hint(
    public: &PublicKnowledge,
    private: &PrivateKnowledge<'_>,
    view: &View<'_>,
    has_useless: bool,
) -> bool {
    let playable = public.left.outlook.playable;
    let can_play = |&offset: &usize| private.teammate_kinds[offset].intersects(playable);
    let mut players = (1..public.players).filter(can_play);
    if !view.may_hint() {
        false
    } else if !view.may_discard() || players.clone().any(|offset| !knows_playable(public, offset)) {
        true
    } else if has_useless && private.can_spare_turns() {
        false
    } else {
        view.information_tokens() > 4 || players.next().is_some()
    }
}

/// A seat had a token and gave no hint: a seat that knows no playable card has none.
pub(super) fn note_missing_hint(public: &mut PublicKnowledge, sender: usize) {
    let playable = public.left.outlook.playable;
    for offset in (0..public.players).filter(|&offset| offset != sender) {
        if !knows_playable(public, offset) {
            public.hands[offset].cards_mut().iter_mut().for_each(|kinds| *kinds -= playable);
        }
    }
}

/// Whether a seat has a slot that is commonly known to be playable.
fn knows_playable(public: &PublicKnowledge, offset: usize) -> bool {
    let playable = public.left.outlook.playable;
    public.hands[offset].cards().iter().any(|kinds| kinds.is_subset(playable))
}
