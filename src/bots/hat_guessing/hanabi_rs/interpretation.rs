use super::hint_messages::HintMessages;
use super::public_knowledge::PublicKnowledge;
use crate::rules::{Event, Move, View};

/// Applies the meaning of a seat's move, before its visible result is applied.
pub(super) fn interpret(
    public: &mut PublicKnowledge,
    before: &View<'_>,
    sender: usize,
    event: &Event,
) {
    match event.played {
        Move::Hint { .. } => {
            let messages = HintMessages::of_hints(public, sender);
            let sum = messages.of_hint(public, event);
            public.receive(before, sender, messages.total, sum);
        }
        Move::Discard { slot } => {
            let useless = public.hands[sender].useless(&public.outlook);
            if before.may_hint() {
                public.note_missing_hint(sender);
            }
            let slots = useless.0.count_ones() as usize;
            if slots > 1 && useless.contains(slot.into()) {
                let sum = (useless.0 & ((1 << slot) - 1)).count_ones();
                public.receive(before, sender, slots, sum as usize);
            }
        }
        Move::Play { .. } | Move::AnnouncedPlay { .. } => {}
    }
}
