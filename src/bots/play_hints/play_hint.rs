//! The convention that a hint points out playable cards, and the choice of the best such hint.

use super::hand_notes::HandNotes;
use crate::bots::bot::Turn;
use crate::bots::common::first_best;
use crate::rules::{ActionId, CardSet, Hint, Move, Offset, Rank, Slot, SlotSet, Suit, View};

/// A hint that touches playable cards, and no others that would be misplayed.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlayHint {
    /// Number of touched cards that their owner did not know to be playable.
    pub news: usize,
    pub hint: Hint,
}

/// Slots that may be touched although they are not playable, because their owner will not play
/// them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Harmless {
    /// By a colour hint.
    pub color: SlotSet,
    /// By a rank hint.
    pub rank: SlotSet,
}

/// The slots of a teammate's hand that hold one of these kinds.
pub(super) fn slots_of(view: &View<'_>, offset: Offset, cards: CardSet) -> SlotSet {
    let hand = view.hand_indices(offset).iter().enumerate();
    SlotSet(
        hand.fold(0, |slots, (slot, &card)| slots | u8::from(cards.contains(card.into())) << slot),
    )
}

/// The hint to a teammate that points out the most playable cards that the teammate does not know
/// of. On ties colours come before ranks, then low ones before high ones. A hint of the rank that
/// `avoided` returns would be misunderstood.
pub(super) fn best_play_hint(
    view: &View<'_>,
    offset: Offset,
    notes: &HandNotes,
    playable: CardSet,
    harmless: impl FnOnce() -> Harmless,
    avoided: impl FnOnce() -> Option<Rank>,
) -> Option<PlayHint> {
    let ready = slots_of(view, offset, playable);
    let news = ready - notes.playable;
    if news.is_empty() {
        return None;
    }
    let tables = view.variant().tables();
    let (mut by_suit, mut by_rank) = (SlotsByTrait::default(), SlotsByTrait::default());
    for (slot, &index) in view.hand_indices(offset).iter().enumerate() {
        let card = tables.card[usize::from(index)];
        by_suit.insert(card.suit.index(), slot);
        by_rank.insert(card.rank.index(), slot);
    }
    if let Some(avoided) = avoided() {
        by_rank.clear(avoided.index());
    }
    let harmless = harmless();
    let unready = SlotSet(!ready.0);
    let color = by_suit.fullest(news, unready - harmless.color);
    let rank = by_rank.fullest(news, unready - harmless.rank);
    if rank.0 > color.0 {
        Some(PlayHint { news: rank.0, hint: Hint::Rank(Rank::ALL[rank.1]) })
    } else if color.0 > 0 {
        Some(PlayHint { news: color.0, hint: Hint::Color(Suit::ALL[color.1]) })
    } else {
        None
    }
}

/// For each suit, or for each rank, the slots that a hint of it touches. Each suit or rank has one
/// byte, its lane.
#[derive(Clone, Copy, Debug, Default)]
struct SlotsByTrait(u64);

impl SlotsByTrait {
    const EACH: u64 = 0x0101_0101_0101_0101;

    fn insert(&mut self, lane: usize, slot: usize) {
        self.0 |= 1 << (8 * lane + slot);
    }

    fn clear(&mut self, lane: usize) {
        self.0 &= !(0xff << (8 * lane));
    }

    /// Among the lanes without an unwanted slot, the number of wanted slots in the lane that has
    /// the most, and the index of the first such lane.
    fn fullest(self, wanted: SlotSet, unwanted: SlotSet) -> (usize, usize) {
        let in_each_lane = |slots: SlotSet| SlotsByTrait::EACH * u64::from(slots.0 & 0x7f);
        let bad = self.0 & in_each_lane(unwanted);
        // A hand has fewer than eight slots, so the highest bit of each byte is free for the carry.
        let is_bad = (bad + in_each_lane(SlotSet(0x7f))) >> 7 & SlotsByTrait::EACH;
        let mut left = self.0 & in_each_lane(wanted) & !(is_bad * 0xff);
        let mut best = (0, 0);
        while left != 0 {
            let lane = left.trailing_zeros() as usize / 8;
            let count = SlotSet((left >> (8 * lane)) as u8).len();
            if count > best.0 {
                best = (count, lane);
            }
            left &= !(0xff << (8 * lane));
        }
        best
    }
}

/// The best hint to any teammate; on ties the one with the lowest offset.
pub(super) fn best_hint(
    view: &View<'_>,
    play_hint: impl Fn(Offset) -> Option<PlayHint>,
) -> Option<Move> {
    let rated = view.variant().teammates().filter_map(|offset| {
        let PlayHint { hint, news } = play_hint(offset)?;
        Some((Move::Hint { offset, hint }, news))
    });
    first_best(rated).map(|(hint, _)| hint)
}

/// The hint of a bot that has nothing to say but may not discard, since no information token is
/// spent: the rank of the previous player's oldest card. By convention it has no meaning.
pub(super) fn pass(view: &View<'_>) -> Option<Move> {
    let offset = view.variant().teammates().next_back()?;
    let oldest = view.hand(offset).next()?;
    Some(Move::Hint { offset, hint: Hint::Rank(oldest.rank) })
}

/// Any legal move, a hint if possible, for positions in which no move of the convention is legal.
pub(super) fn any_move(view: &View<'_>) -> Move {
    let (variant, legal) = (view.variant(), view.legal_actions());
    let hints = variant.color_hint_base()..variant.announced_play_base();
    let mut legal = legal.iter().map(ActionId::index);
    let first = legal.clone().next().unwrap_or_default();
    let action = legal.find(|action| hints.contains(action)).unwrap_or(first);
    variant.tables().moves[action]
}

/// Whether a turn may be a [`pass`].
pub(super) fn looks_like_a_pass(turn: &Turn<'_>) -> bool {
    let variant = turn.before.variant();
    let is_to_previous = matches!(
        turn.event.played,
        Move::Hint { offset, hint: Hint::Rank(_) } if Some(offset) == variant.teammates().next_back()
    );
    is_to_previous && turn.event.touched.contains(Slot::OLDEST) && !turn.before.may_discard()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lane_with_most_wanted_slots_and_no_unwanted_one_is_found() {
        let mut lanes = SlotsByTrait::default();
        for (lane, slot) in [(0, 0), (1, 1), (1, 2), (4, 3), (4, 4), (5, 5)] {
            lanes.insert(lane, slot);
        }
        let all = SlotSet::first_slots(6);
        assert_eq!(lanes.fullest(all, SlotSet::EMPTY), (2, 1));
        assert_eq!(lanes.fullest(all, SlotSet::of(Slot::ALL[2])), (2, 4));
        assert_eq!(lanes.fullest(SlotSet::of(Slot::ALL[5]), SlotSet::of(Slot::ALL[2])), (1, 5));
        assert_eq!(lanes.fullest(SlotSet::of(Slot::ALL[2]), SlotSet::of(Slot::ALL[1])), (0, 0));
    }
}
