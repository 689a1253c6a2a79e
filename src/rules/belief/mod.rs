//! What a seat may believe about its own hand.

mod ways;

#[cfg(test)]
mod tests;

use self::ways::{Count, Supply};
use super::card_set::CardSet;
use super::limits::{MAX_CARD_KINDS, MAX_HAND_SIZE};
use super::rng::GameRng;
use super::view::View;

/// What a seat may believe about its own hand: all ways to fill its slots with distinct copies of
/// cards that it does not see, each copy plausible in its slot, one as likely as another.
///
/// That is what a well shuffled deck and the hints leave open. What could be learned from the
/// partners' choices (why they gave this hint, and not another) is not in it.
///
/// Everything is counted, in whole numbers, without listing hands and without the heap.
///
/// ```
/// use std::sync::Arc;
/// use starmine::rules::{Belief, GameRng, EpisodeSeed, Parameters, State, Variant};
///
/// let variant = Arc::new(Variant::new(Parameters::default())?);
/// let state = State::new(variant, EpisodeSeed { seed: 7, ..EpisodeSeed::default() });
/// let belief = Belief::new(&state.view(0));
/// let mut marginals = [0.0; 5 * 25];
/// belief.write_marginals(&mut marginals);
/// let hand = belief.sample(&mut GameRng::for_samples(1)).expect("the true hand is possible");
/// assert!(belief.possible(0).contains(hand[0].into()) && marginals[usize::from(hand[0])] > 0.0);
/// # Ok::<(), starmine::rules::VariantError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Belief {
    slots: usize,
    kinds: usize,
    /// The slots in which each kind of card is plausible, a bit each.
    fits: [u8; MAX_CARD_KINDS],
    /// Copies of each kind that the seat does not see.
    unseen: [u8; MAX_CARD_KINDS],
    supply: Supply,
    count: Count,
}

impl Belief {
    /// What the view's observer may believe.
    #[must_use]
    pub fn new(view: &View<'_>) -> Belief {
        let variant = view.variant();
        let slots = view.hand_size(0);
        let mut plausible = [CardSet::EMPTY; MAX_HAND_SIZE];
        for (slot, set) in plausible[..slots].iter_mut().enumerate() {
            *set = view.knowledge(0, slot).plausible_set(variant);
        }
        Belief::of(&plausible[..slots], view.unseen(), variant.num_card_kinds())
    }

    /// Of slots with these plausible cards, when so many copies of each kind are not seen.
    fn of(plausible: &[CardSet], unseen: [u8; MAX_CARD_KINDS], kinds: usize) -> Belief {
        let slots = plausible.len();
        let mut fits = [0; MAX_CARD_KINDS];
        for (slot, set) in plausible.iter().enumerate() {
            for (kind, fits) in fits.iter_mut().enumerate() {
                *fits |= u8::from(set.contains(kind)) << slot;
            }
        }
        let supply = Supply::new(fits.into_iter().zip(unseen), slots);
        Belief { slots, kinds, fits, unseen, supply, count: supply.count(slots) }
    }

    /// Cards in the hand.
    #[must_use]
    pub const fn slots(&self) -> usize {
        self.slots
    }

    /// Number of hands that are possible, where each copy of a card counts as another one. At
    /// least 1 in every position that a game can reach.
    #[must_use]
    pub const fn num_hands(&self) -> u64 {
        self.count.total
    }

    /// The possible cards of a slot: those that at least one possible hand has there. This is
    /// exact: a card is not possible either when the other slots need all its copies.
    ///
    /// # Panics
    /// When the hand has no such slot.
    #[must_use]
    pub fn possible(&self, slot: usize) -> CardSet {
        let hands = self.hands_by_card(slot);
        (0..self.kinds).filter(|&kind| hands[kind] > 0).collect()
    }

    /// The probability of each card in each slot: slot by slot, the cards in index order. The
    /// row of each slot sums to 1. All are 0 where no hand is possible.
    ///
    /// # Panics
    /// When the length is not that of `slots` rows of a number for each kind of card.
    pub fn write_marginals(&self, rows: &mut [f64]) {
        assert_eq!(rows.len(), self.slots * self.kinds, "a number for each slot and card");
        let total = self.num_hands().max(1) as f64;
        for (slot, row) in rows.chunks_exact_mut(self.kinds).enumerate() {
            let hands = self.hands_by_card(slot);
            row.iter_mut().zip(hands).for_each(|(share, hands)| *share = hands as f64 / total);
        }
    }

    /// The number of possible hands with each card in this slot.
    fn hands_by_card(&self, slot: usize) -> [u64; MAX_CARD_KINDS] {
        assert!(slot < self.slots, "no slot {slot}");
        let mut hands = [0; MAX_CARD_KINDS];
        for (kind, hands) in hands.iter_mut().enumerate() {
            let copies = u64::from(self.unseen[kind]);
            *hands = copies * self.count.with_copy_in(slot, self.fits[kind]);
        }
        hands
    }

    /// A possible hand as card indices, each choice of copies as likely as another; 0 beyond its
    /// last slot. `None` where no hand is possible.
    ///
    /// The last slot's card is chosen by its marginal, then the one before it given that card, and
    /// so on: nothing is rejected, but for what [`GameRng::below_u64`] says.
    #[must_use]
    pub fn sample(&self, rng: &mut GameRng) -> Option<[u8; MAX_HAND_SIZE]> {
        if self.num_hands() == 0 {
            return None;
        }
        let mut hand = [0; MAX_HAND_SIZE];
        let (mut unseen, mut supply, mut count) = (self.unseen, self.supply, self.count);
        for slot in (0..self.slots).rev() {
            let mut ticket = rng.below_u64(count.total);
            let kind = (0..self.kinds).find(|&kind| {
                let hands = u64::from(unseen[kind]) * count.with_copy_in(slot, self.fits[kind]);
                let wins = ticket < hands;
                ticket = ticket.wrapping_sub(hands);
                wins
            })?;
            hand[slot] = kind as u8;
            unseen[kind] -= 1;
            if slot > 0 {
                supply.remove(self.fits[kind], slot);
                count = supply.count(slot);
            }
        }
        Some(hand)
    }
}
