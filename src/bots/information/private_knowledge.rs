//! What the seat to act knows, and how it rates its cards and hints.

use super::hand_knowledge::{CardsLeft, HandKnowledge, is_certainly};
use super::public_knowledge::{PublicKnowledge, mend};
use crate::bots::common::base_game::rank_of;
use crate::bots::common::copy_counts::CopyCounts;
use crate::bots::common::{can_spare_turns, first_best};
use crate::rules::{CardSet, Hint, MAX_PLAYERS, Offset, SlotSet, View};

/// A count of copies, or a sum of their ranks, as a score. Scores are `f32` as in the original:
/// rounding decides some ties.
fn score(count: u32) -> f32 {
    count as f32
}

/// The observer's knowledge: the common knowledge and the visible hands.
pub(super) struct PrivateKnowledge<'a> {
    public: &'a PublicKnowledge,
    view: &'a View<'a>,
    /// What the observer knows about its own hand.
    pub own_hand: HandKnowledge,
    /// The copies in the deck and in the observer's hand.
    unseen: CopyCounts,
    /// The kinds in each teammate's hand, by offset.
    pub teammate_kinds: [CardSet; MAX_PLAYERS],
}

impl<'a> PrivateKnowledge<'a> {
    pub fn new(public: &'a PublicKnowledge, view: &'a View<'a>) -> PrivateKnowledge<'a> {
        let mut teammate_kinds = [CardSet::EMPTY; MAX_PLAYERS];
        let mut unseen = public.left.copies;
        for (offset, kinds) in teammate_kinds.iter_mut().enumerate().take(public.players).skip(1) {
            for &card in view.hand_indices(Offset::new_unchecked(offset)) {
                *kinds |= CardSet::of(card.into());
                unseen.remove_if_left(card.into());
            }
        }
        let mut own_hand = public.hands[0];
        own_hand.keep(unseen.at_least_one());
        mend(&mut own_hand, view, 0, unseen.at_least_one());
        PrivateKnowledge { public, view, own_hand, unseen, teammate_kinds }
    }

    /// The best card known to be playable: a low one that few teammates hold.
    pub fn best_play(&self) -> Option<usize> {
        let playable = self.public.left.outlook.playable;
        self.best_slot(|card| is_certainly(card, playable).then(|| self.urgency(card)))
    }

    /// The average urgency of playing a card that is of one of these kinds.
    fn urgency(&self, card: CardSet) -> f32 {
        let mut sum = 0.0;
        for kind in card.iter() {
            let others = self.teammate_kinds.iter().filter(|hand| hand.contains(kind)).count();
            let holders = if self.view.deck_size() > 0 { 1 + others as u32 } else { 1 };
            let weight = self.unseen.total(CardSet::of(kind));
            let of_kind = score(9 - rank_of(kind) as u32) / score(holders);
            sum += score(weight) * of_kind;
        }
        sum / score(self.unseen.total(card))
    }

    /// Among the cards that are either playable or dead, the one that is most likely playable, with
    /// a probability above 3/4.
    pub fn risky_play(&self) -> Option<usize> {
        let outlook = &self.public.left.outlook;
        let harmless = outlook.playable | outlook.dead;
        self.best_slot(|card| {
            let playable = self.unseen.total(card & outlook.playable);
            let all = self.unseen.total(card);
            let is_likely = is_certainly(card, harmless) && 4 * playable > 3 * all;
            is_likely.then(|| score(playable) / score(all))
        })
    }

    /// Whether the deck is large enough for a discard.
    pub fn can_spare_turns(&self) -> bool {
        can_spare_turns(self.view.variant(), self.view.discards())
    }

    /// The slot whose loss probably costs least: a teammate holds the same card, or it is not
    /// critical, or its rank is high.
    pub fn least_needed(&self) -> usize {
        let seen = self.teammate_kinds.iter().fold(CardSet::EMPTY, |seen, &hand| seen | hand);
        let critical = self.public.left.outlook.critical;
        let of_card = |card: CardSet| {
            let all = self.unseen.total(card);
            let per_copy = |sum: u32| score(sum) / score(all);
            let known = 20.0 * per_copy(self.unseen.total(card & seen));
            let spare = 10.0 * per_copy(self.unseen.total(card - critical));
            let rank = |kind| self.unseen.total(CardSet::of(kind)) * (rank_of(kind) + 1) as u32;
            known + spare + per_copy(card.iter().map(rank).sum())
        };
        self.best_slot(|card| (!card.is_empty()).then(|| of_card(card))).unwrap_or(0)
    }

    /// The slot with the highest score; on ties the oldest.
    fn best_slot(&self, rate: impl Fn(CardSet) -> Option<f32>) -> Option<usize> {
        let slots = self.own_hand.cards().iter().enumerate();
        let rated = slots.filter_map(|(slot, &card)| Some((slot, rate(card)?)));
        first_best(rated).map(|(slot, _)| slot)
    }
}

/// The factor by which a hint narrows a hand down, doubled for each card that becomes known.
pub(super) fn gain(hand: &HandKnowledge, hint: Hint, touched: SlotSet, left: &CardsLeft) -> f32 {
    let mut hinted = *hand;
    hinted.apply_hint(hint, touched);
    let is_settled =
        |card: CardSet| card.single().is_some() || is_certainly(card, left.outlook.dead);
    let mut gain = 1.0;
    for (&before, &after) in hand.cards().iter().zip(hinted.cards()) {
        if !is_settled(before) {
            let bonus = if is_settled(after) { 2.0 } else { 1.0 };
            let [before, after] = [before, after].map(|kinds| score(left.copies.total(kinds)));
            gain *= bonus * (before / after);
        }
    }
    gain
}
