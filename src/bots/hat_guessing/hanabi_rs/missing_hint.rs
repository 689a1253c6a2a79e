//! What a turn without a hint says.

use crate::bots::hat_guessing::public_knowledge::PublicKnowledge;

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
pub(super) fn knows_playable(public: &PublicKnowledge, offset: usize) -> bool {
    let playable = public.left.outlook.playable;
    public.hands[offset].cards().iter().any(|kinds| kinds.is_subset(playable))
}
