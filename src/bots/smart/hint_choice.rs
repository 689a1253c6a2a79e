//! The choice of a hint that makes a teammate play a card.

use super::kind_sets::{is_mixed, left_by};
use crate::bots::common::base_game;
use crate::bots::common::first_best;
use crate::rules::{CardSet, Hint, Rank, Slot, SlotSet, Suit};

/// A teammate's hand: its actual cards, and the possible kinds by common knowledge.
pub(super) struct HintTarget<'a> {
    cards: &'a [u8],
    possible: &'a [CardSet],
    playable: CardSet,
    /// Slots that may be playable or not, by common knowledge.
    unsure: SlotSet,
    /// Slots that are in fact playable.
    truly_playable: SlotSet,
}

impl<'a> HintTarget<'a> {
    pub(super) fn new(
        cards: &'a [u8],
        possible: &'a [CardSet],
        playable: CardSet,
    ) -> HintTarget<'a> {
        let (mut unsure, mut truly_playable) = (0, 0);
        for (slot, (&card, &kinds)) in cards.iter().zip(possible).enumerate() {
            unsure |= u8::from(is_mixed(kinds, playable)) << slot;
            truly_playable |= u8::from(playable.contains(card.into())) << slot;
        }
        HintTarget {
            cards,
            possible,
            playable,
            unsure: SlotSet(unsure),
            truly_playable: SlotSet(truly_playable),
        }
    }

    /// Among the hints that make the teammate play, the one that rules out the most. On ties
    /// colours come before ranks, then low ones before high ones. A hint of the rank that `avoided`
    /// returns would be taken for a warning.
    pub(super) fn best_hint(&self, avoided: impl Fn() -> Option<usize>) -> Option<(Hint, usize)> {
        // A useful hint concerns a card that is playable and not known to be.
        if self.unsure.0 & self.truly_playable.0 == 0 {
            return None;
        }
        let (mut colors, mut ranks) = ([SlotSet(0); 5], [SlotSet(0); 5]);
        for (slot, &card) in self.cards.iter().enumerate() {
            colors[base_game::suit_of(card.into())].0 |= 1 << slot;
            ranks[base_game::rank_of(card.into())].0 |= 1 << slot;
        }
        if let Some(rank) = avoided() {
            ranks[rank] = SlotSet(0);
        }
        let colors = Suit::ALL.iter().map(|&suit| Hint::Color(suit)).zip(colors);
        let ranks = Rank::ALL.iter().map(|&rank| Hint::Rank(rank)).zip(ranks);
        let touching = colors.chain(ranks).filter(|(_, touched)| !touched.is_empty());
        let rated = touching.filter_map(|(hint, touched)| {
            let named = base_game::of_hint(hint);
            self.makes_play(named, touched).then(|| (hint, self.removed(named, touched)))
        });
        first_best(rated).filter(|&(_, removed)| removed > 0)
    }

    /// Whether the hint makes the teammate play a playable card: one becomes known to be playable,
    /// or the newest touched card that may be playable, which the hint promises, is so.
    fn makes_play(&self, named: CardSet, touched: SlotSet) -> bool {
        let mut is_right = None;
        for slot in (0..self.possible.len())
            .rev()
            .filter(|&slot| self.unsure.contains(Slot::new_unchecked(slot)))
        {
            let kinds =
                self.possible[slot] & left_by(named, touched.contains(Slot::new_unchecked(slot)));
            if kinds.is_subset(self.playable) {
                return true;
            }
            if touched.contains(Slot::new_unchecked(slot)) && kinds.intersects(self.playable) {
                is_right =
                    is_right.or(Some(self.truly_playable.contains(Slot::new_unchecked(slot))));
            }
        }
        is_right == Some(true)
    }

    fn removed(&self, named: CardSet, touched: SlotSet) -> usize {
        let removed = |(slot, &kinds): (usize, &CardSet)| {
            (kinds - left_by(named, touched.contains(Slot::new_unchecked(slot)))).len()
        };
        self.possible.iter().enumerate().map(removed).sum()
    }
}
