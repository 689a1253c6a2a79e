//! The distribution of a seat's own hand, given what the seat sees.

mod ways;

#[cfg(test)]
mod tests;

use self::ways::{AvailableCopies, WayCounts};
use crate::rules::cards::card::{Card, Rank, Suit};
use crate::rules::cards::card_set::CardSet;
use crate::rules::game::rng::{GameRng, ticket_index};
use crate::rules::limits::{MAX_CARD_KINDS, MAX_HAND_SIZE};
use crate::rules::small_index::Offset;
use crate::rules::small_index::Slot;
use crate::rules::views::view::View;

/// The distribution of a seat's own hand, given what it sees. A hand fills the slots with distinct
/// unseen copies of cards, each plausible in its slot. All such hands are equally likely.
///
/// This is the posterior after the deal and the hints. It draws no conclusions from the choices of
/// the partners, such as why they gave one hint and not another.
///
/// The counts are exact integers. They are computed without enumerating hands and without
/// allocating memory.
///
/// ```
/// use starmine::rules::{Belief, CardSet, EpisodeSeed, GameRng, Seat, Slot, State, Variant};
///
/// let variant = Variant::default();
/// let state = State::new(variant.clone(), EpisodeSeed::new(7));
/// let view = state.view(Seat::FIRST);
/// let belief = Belief::new(&view);
/// let mut hand = belief.sample(&mut GameRng::for_samples(1)).expect("the true hand is possible");
/// let oldest = variant.card_index(hand.next().expect("it has five cards"));
/// assert!(belief.possible(Slot::OLDEST).contains(oldest));
/// let sets = [CardSet::of(oldest), view.outlook().playable];
/// let [likely, playable] = belief.probabilities(Slot::OLDEST, sets);
/// assert!(likely > 0.0);
/// println!("playable: {playable}");
/// # Ok::<(), starmine::rules::VariantError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Belief {
    slots: usize,
    kinds: usize,
    ranks: usize,
    /// The slots in which each kind of card is plausible, one bit each.
    fits: [u8; MAX_CARD_KINDS],
    /// Unseen copies of each kind.
    unseen: [u8; MAX_CARD_KINDS],
    available: AvailableCopies,
    count: WayCounts,
}

impl Belief {
    /// The belief of the view's observer.
    #[must_use]
    pub fn new(view: &View<'_>) -> Belief {
        let variant = view.variant();
        let slots = view.hand_size(Offset::OWN);
        let mut plausible = [CardSet::EMPTY; MAX_HAND_SIZE];
        for (set, knowledge) in plausible.iter_mut().zip(view.hand_knowledge(Offset::OWN)) {
            *set = knowledge.plausible(variant);
        }
        Belief::of(&plausible[..slots], view.unseen(), [variant.colors(), variant.ranks()])
    }

    /// The belief over slots with these plausible cards, given the unseen copies of each kind and
    /// the numbers of colours and ranks.
    pub(crate) fn of(
        plausible: &[CardSet],
        unseen: [u8; MAX_CARD_KINDS],
        [colors, ranks]: [u8; 2],
    ) -> Belief {
        let (slots, ranks) = (plausible.len(), usize::from(ranks));
        let mut fits = [0; MAX_CARD_KINDS];
        for (slot, set) in plausible.iter().enumerate() {
            for (kind, fits) in fits.iter_mut().enumerate() {
                *fits |= u8::from(set.contains(kind)) << slot;
            }
        }
        let available = AvailableCopies::new(fits.into_iter().zip(unseen), slots);
        let kinds = usize::from(colors) * ranks;
        Belief { slots, kinds, ranks, fits, unseen, available, count: available.count(slots) }
    }

    /// Cards in the hand.
    #[must_use]
    pub const fn slots(&self) -> usize {
        self.slots
    }

    /// Number of possible hands, where the copies of a card are distinct. At least 1 in every
    /// position that a game can reach.
    #[must_use]
    pub const fn num_hands(&self) -> u64 {
        self.count.total
    }

    /// The possible cards of a slot: those that at least one possible hand has there. A card is not
    /// possible when the other slots need all its copies.
    ///
    /// # Panics
    /// If the hand has no such slot.
    #[must_use]
    pub fn possible(&self, slot: Slot) -> CardSet {
        let hands = self.hands_by_card(slot.index());
        (0..self.kinds).filter(|&kind| hands[kind] > 0).collect()
    }

    /// Writes the probability of each card in each slot: slot by slot, the cards in index order.
    /// The row of each slot sums to 1, or is 0 where no hand is possible.
    ///
    /// # Panics
    /// If the length is not the number of slots times the number of kinds of cards.
    pub fn write_marginals(&self, rows: &mut [f64]) {
        assert_eq!(rows.len(), self.slots * self.kinds, "a number for each slot and card");
        let total = self.num_hands().max(1) as f64;
        for (slot, row) in rows.chunks_exact_mut(self.kinds).enumerate() {
            let hands = self.hands_by_card(slot);
            row.iter_mut().zip(hands).for_each(|(share, hands)| *share = hands as f64 / total);
        }
    }

    /// The probability that the card of this slot is in a set, for each of these sets. All are 0 where
    /// no hand is possible. Cards that the variant does not have count as impossible.
    ///
    /// # Panics
    /// If the hand has no such slot.
    #[must_use]
    pub fn probabilities<const SETS: usize>(
        &self,
        slot: Slot,
        sets: [CardSet; SETS],
    ) -> [f64; SETS] {
        let (hands, total) = (self.hands_by_card(slot.index()), self.num_hands().max(1) as f64);
        // A set may have cards that the variant does not have.
        let of_kind = |kind: usize| hands.get(kind).copied().unwrap_or_default();
        sets.map(|set| set.iter().map(of_kind).sum::<u64>() as f64 / total)
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

    /// All possible hands as card indices, 0 beyond the last slot, each with the number of choices
    /// of copies that make it; `None` if there are more than `most`.
    #[must_use]
    #[cfg(feature = "bots")]
    pub(crate) fn hands(&self, most: usize) -> Option<Vec<([u8; MAX_HAND_SIZE], u64)>> {
        let mut hands = Vec::new();
        let mut unseen = self.unseen;
        self.fill(0, 1, &mut [0; MAX_HAND_SIZE], &mut unseen, most, &mut hands).then_some(hands)
    }

    /// Fills the slots from this one on in all ways; whether there was room for all hands.
    #[cfg(feature = "bots")]
    fn fill(
        &self,
        slot: usize,
        ways: u64,
        hand: &mut [u8; MAX_HAND_SIZE],
        unseen: &mut [u8; MAX_CARD_KINDS],
        most: usize,
        hands: &mut Vec<([u8; MAX_HAND_SIZE], u64)>,
    ) -> bool {
        if slot == self.slots {
            hands.push((*hand, ways));
            return hands.len() <= most;
        }
        for kind in 0..self.kinds {
            let copies = unseen[kind];
            if copies == 0 || self.fits[kind] >> slot & 1 == 0 {
                continue;
            }
            hand[slot] = kind as u8;
            unseen[kind] -= 1;
            let fits = self.fill(slot + 1, ways * u64::from(copies), hand, unseen, most, hands);
            unseen[kind] += 1;
            if !fits {
                return false;
            }
        }
        hand[slot] = 0;
        true
    }

    /// A uniformly random possible hand, the oldest card first. `None` where no hand is possible.
    #[must_use]
    pub fn sample(&self, rng: &mut GameRng) -> Option<impl ExactSizeIterator<Item = Card> + use<>> {
        let (hand, ranks) = (self.sample_indices(rng)?, self.ranks);
        Some(hand.into_iter().take(self.slots).map(move |kind| card(kind.into(), ranks)))
    }

    /// A uniformly random possible hand as card indices, 0 beyond its last slot. `None` where no
    /// hand is possible.
    ///
    /// The card of the last slot is drawn from its marginal, then the one before it given that
    /// card, and so on, so no hand is rejected.
    #[must_use]
    pub(crate) fn sample_indices(&self, rng: &mut GameRng) -> Option<[u8; MAX_HAND_SIZE]> {
        if self.num_hands() == 0 {
            return None;
        }
        let mut hand = [0; MAX_HAND_SIZE];
        let (mut unseen, mut available, mut count) = (self.unseen, self.available, self.count);
        for slot in (0..self.slots).rev() {
            let hands = |kind| u64::from(unseen[kind]) * count.with_copy_in(slot, self.fits[kind]);
            let kind = ticket_index((0..self.kinds).map(hands), rng.below_u64(count.total))?;
            hand[slot] = kind as u8;
            unseen[kind] -= 1;
            if slot > 0 {
                available.remove(self.fits[kind], slot);
                count = available.count(slot);
            }
        }
        Some(hand)
    }
}

/// The card with this index, in a variant with this number of ranks.
fn card(kind: usize, ranks: usize) -> Card {
    Card::new(Suit::ALL[kind / ranks], Rank::ALL[kind % ranks])
}
