use super::copies::Copies;
use crate::rules::{Hint, Outlook, SlotSet, View};

/// Cards in the largest hand of the base game.
pub(super) const SLOTS: usize = 5;

/// What can become of the cards, as copies.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prospects {
    pub playable: Copies,
    pub dead: Copies,
    pub critical: Copies,
}

impl From<Outlook> for Prospects {
    fn from(outlook: Outlook) -> Prospects {
        Prospects {
            playable: Copies::of(outlook.playable),
            dead: Copies::of(outlook.dead),
            critical: Copies::of(outlook.critical),
        }
    }
}

/// What is known about a hand: the copies that the card in each slot may be, the oldest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hand {
    pub slots: [Copies; SLOTS],
    pub size: usize,
}

impl Hand {
    /// A hand of so many cards that may be any of these.
    pub fn of(size: usize, copies: Copies) -> Hand {
        let mut hand = Hand::default();
        (0..size).for_each(|_| hand.push(copies));
        hand
    }

    pub fn cards(&self) -> &[Copies] {
        &self.slots[..self.size]
    }

    pub fn cards_mut(&mut self) -> &mut [Copies] {
        &mut self.slots[..self.size]
    }

    /// Adds the newest card.
    pub fn push(&mut self, card: Copies) {
        self.slots[self.size] = card;
        self.size += 1;
    }

    /// Takes a card away.
    pub fn remove(&mut self, slot: usize) {
        // A plain loop over all slots beats `copy_within`, which calls into the C library.
        for place in 0..SLOTS - 1 {
            self.slots[place] = self.slots[place + usize::from(place >= slot)];
        }
        self.slots[SLOTS - 1] = Copies::NONE;
        self.size -= 1;
    }

    /// Only these copies are left.
    pub fn limit(&mut self, left: Copies) {
        self.slots.iter_mut().for_each(|card| *card &= left);
    }

    /// Where the others do not play as we think, what we made of their moves may leave nothing
    /// that a card can be. There only the hints themselves count, and the copies that are left.
    pub fn mend(&mut self, view: &View<'_>, offset: usize, left: Copies) {
        for (slot, card) in self.cards_mut().iter_mut().enumerate() {
            if card.is_empty() {
                let plausible = view.knowledge(offset, slot).plausible_set(view.variant());
                *card = Copies::of(plausible) & left;
            }
        }
    }

    /// A hint pointed these slots out.
    pub fn told(&mut self, hint: Hint, touched: SlotSet) {
        let matching = Copies::matching(hint);
        for (slot, card) in self.cards_mut().iter_mut().enumerate() {
            if touched.contains(slot) {
                *card &= matching;
            } else {
                *card -= matching;
            }
        }
    }

    /// Whether a slot is known to be playable.
    pub fn knows_playable(&self, prospects: &Prospects) -> bool {
        self.cards().iter().any(|card| card.is_subset(prospects.playable))
    }

    /// No card of it is one of these.
    pub fn deny(&mut self, cards: Copies) {
        self.cards_mut().iter_mut().for_each(|card| *card -= cards);
    }

    /// The slots that are known to be dead, or to hold the same card as another one.
    pub fn useless(&self, prospects: &Prospects) -> SlotSet {
        let mut useless = 0;
        for (slot, card) in self.cards().iter().enumerate() {
            let is_copy = || {
                let mut others = (0..self.size).filter(|&other| other != slot);
                card.is_one_kind() && others.any(|other| self.slots[other] == *card)
            };
            useless |= u8::from(card.is_subset(prospects.dead) || is_copy()) << slot;
        }
        SlotSet(useless)
    }

    /// The slot that a hint to this hand is about: the oldest of those about which hints would
    /// say most.
    pub fn hinted_slot(&self, prospects: &Prospects) -> usize {
        let unknown = |card: Copies| {
            if card.is_subset(prospects.dead) || card.is_one_kind() {
                return 0;
            }
            1 + u8::from(!card.suits().is_power_of_two())
                + u8::from(!card.ranks().is_power_of_two())
        };
        let slots = (0..self.size).rev();
        slots.max_by_key(|&slot| unknown(self.slots[slot])).unwrap_or(0)
    }

    /// Whether all know that the hand has at least two suits and at least two ranks. Then four
    /// things can be said by a hint to it, otherwise three.
    pub fn is_mixed(&self) -> bool {
        let common = |sets: fn(Copies) -> u64| {
            self.cards().iter().fold(u64::MAX, |common, &card| common & sets(card))
        };
        common(Copies::suits) == 0 && common(Copies::ranks) == 0
    }
}
