//! Which hint to a teammate makes it play a card.

use super::kinds;
use super::memory::is_mixed;
use crate::rules::{CardSet, Hint, Rank, SlotSet, Suit};

/// A hint and the number of possibilities that it takes away.
#[derive(Clone, Copy, Debug)]
pub(super) struct RatedHint {
    pub hint: Hint,
    pub removed: usize,
}

/// A teammate's hand: what it is, and what its owner takes it for.
pub(super) struct Target<'a> {
    cards: &'a [u8],
    possible: &'a [CardSet],
    playable: CardSet,
    /// The cards that may be playable, for all that their owner knows.
    unsure: SlotSet,
    /// The cards that are.
    really: SlotSet,
}

impl<'a> Target<'a> {
    pub(super) fn new(cards: &'a [u8], possible: &'a [CardSet], playable: CardSet) -> Target<'a> {
        let (mut unsure, mut really) = (0, 0);
        for (slot, (&card, &kinds)) in cards.iter().zip(possible).enumerate() {
            unsure |= u8::from(is_mixed(kinds, playable)) << slot;
            really |= u8::from(playable.contains(card.into())) << slot;
        }
        Target { cards, possible, playable, unsure: SlotSet(unsure), really: SlotSet(really) }
    }

    /// The hint that removes the most possibilities among those which make the teammate play, a
    /// colour before a rank, a low one before a high one. Not the rank to be avoided, which would
    /// be taken for a warning.
    pub(super) fn best_hint(&self, avoided: impl Fn() -> Option<usize>) -> Option<RatedHint> {
        // A hint that is worth giving is about a card that is playable and not known to be.
        if self.unsure.0 & self.really.0 == 0 {
            return None;
        }
        let (mut colors, mut ranks) = ([SlotSet(0); 5], [SlotSet(0); 5]);
        for (slot, &card) in self.cards.iter().enumerate() {
            colors[kinds::suit(card.into())].0 |= 1 << slot;
            ranks[kinds::rank(card.into())].0 |= 1 << slot;
        }
        if let Some(rank) = avoided() {
            ranks[rank] = SlotSet(0);
        }
        let colors = Suit::ALL.iter().map(|&suit| Hint::Color(suit)).zip(colors);
        let ranks = Rank::ALL.iter().map(|&rank| Hint::Rank(rank)).zip(ranks);
        let mut best: Option<RatedHint> = None;
        for (hint, touched) in colors.chain(ranks).filter(|(_, touched)| touched.0 != 0) {
            let named = kinds::of_hint(hint);
            if !self.makes_play(named, touched) {
                continue;
            }
            let removed = self.removed(named, touched);
            if removed > best.map_or(0, |best| best.removed) {
                best = Some(RatedHint { hint, removed });
            }
        }
        best
    }

    /// Whether the teammate will play, and rightly: a card turns out to be playable, or the newest
    /// one that it will then take for playable is.
    fn makes_play(&self, named: CardSet, touched: SlotSet) -> bool {
        let mut is_right = None;
        for slot in (0..self.possible.len()).rev().filter(|&slot| self.unsure.contains(slot)) {
            let kinds = self.possible[slot] & kinds::left_by(named, touched.contains(slot));
            if kinds.is_subset(self.playable) {
                return true;
            }
            if touched.contains(slot) && kinds.meets(self.playable) {
                is_right = is_right.or(Some(self.really.contains(slot)));
            }
        }
        is_right == Some(true)
    }

    fn removed(&self, named: CardSet, touched: SlotSet) -> usize {
        let removed = |(slot, &kinds): (usize, &CardSet)| {
            (kinds - kinds::left_by(named, touched.contains(slot))).len()
        };
        self.possible.iter().enumerate().map(removed).sum()
    }
}
