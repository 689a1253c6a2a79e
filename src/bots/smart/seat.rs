//! What to do in a turn.

use super::hints::{RatedHint, Target};
use super::kinds::{self, Share};
use super::memory::{Memory, is_mixed};
use crate::rules::{CardSet, Hint, Move, Outlook, Rank, View};

/// The seat to act: what everybody knows, and what only this seat sees.
pub(super) struct Seat<'a> {
    memory: &'a Memory,
    view: &'a View<'a>,
    /// What everybody knows of this seat's cards.
    hand: &'a [CardSet],
    outlook: Outlook,
    /// The card that the next seat means to discard, while it can be told about it.
    next_discard: Option<(usize, u8)>,
}

impl<'a> Seat<'a> {
    pub(super) fn new(memory: &'a Memory, view: &'a View<'a>) -> Seat<'a> {
        let next_discard = || {
            let slot = memory.next_discard(view.seat(1))?;
            Some((slot, *view.hand_indices(1).get(slot)?))
        };
        Seat {
            memory,
            view,
            hand: memory.hand(view.observer()),
            outlook: memory.outlook(),
            next_discard: next_discard().filter(|_| view.information_tokens() > 0),
        }
    }

    /// The first of these that can be done.
    pub(super) fn choose(&self) -> Move {
        if self.view.deck_size() == 0
            && let Some(play) = self.play_known().or_else(|| self.gamble())
        {
            return play;
        }
        self.warn()
            .or_else(|| self.discard_for_finesse())
            .or_else(|| self.play_known())
            .or_else(|| self.hint())
            .or_else(|| self.gamble())
            .unwrap_or_else(|| if self.may_discard() { self.discard() } else { self.reclaim() })
    }

    fn may_discard(&self) -> bool {
        self.view.information_tokens() < self.view.variant().max_information_tokens()
    }

    /// Keeps the next seat from discarding a critical card: gives it something to play, or else
    /// warns it.
    fn warn(&self) -> Option<Move> {
        let (_, card) = self.next_discard?;
        if !self.outlook.critical.contains(card.into()) {
            return None;
        }
        let warning = Hint::Rank(Rank::ALL[kinds::rank(card.into())]);
        let hint = self.best_hint(1).map_or(warning, |best| best.hint);
        Some(Move::Hint { offset: 1, hint })
    }

    /// Discards a playable card whose other copy is the newest card of just one teammate, who will
    /// then know it.
    fn discard_for_finesse(&self) -> Option<Move> {
        if !self.may_discard() {
            return None;
        }
        let suitable = self.outlook.playable - self.outlook.critical;
        let slot = self.hand.iter().position(|kinds| {
            kinds.is_subset(suitable)
                && kinds.single().is_some_and(|kind| self.newest_cards(kind) == 1)
        })?;
        Some(Move::Discard { slot: slot as u8 })
    }

    /// Teammates whose newest card is of this kind.
    fn newest_cards(&self, kind: usize) -> usize {
        let newest = |&offset: &usize| self.view.hand_indices(offset).last().copied();
        self.offsets().filter(|offset| newest(offset).map(usize::from) == Some(kind)).count()
    }

    fn offsets(&self) -> impl Iterator<Item = usize> + use<> {
        1..usize::from(self.view.variant().players())
    }

    /// Plays a card that is playable, first of all one of which nobody else knows that this seat
    /// knows it, before they spend a hint on it; then one whose rank is not known, then the lowest.
    fn play_known(&self) -> Option<Move> {
        let playable = self.outlook.playable;
        let urgency = |slot: usize| {
            let kinds = self.memory.own_possible(slot);
            if kinds.is_empty() || !kinds.is_subset(playable) {
                return 0;
            }
            let lowness = kinds::common_rank(kinds).map_or(7, |rank| 5 - rank);
            let is_secret = !self.hand[slot].is_subset(playable);
            lowness + if is_secret { 100 } else { 0 }
        };
        let mut best = (0, 0);
        for slot in 0..self.hand.len() {
            let urgency = urgency(slot);
            if urgency > best.0 {
                best = (urgency, slot);
            }
        }
        (best.0 > 0).then_some(Move::Play { slot: best.1 as u8 })
    }

    /// Gives the best of all hints that make a teammate play.
    fn hint(&self) -> Option<Move> {
        if self.view.information_tokens() == 0 {
            return None;
        }
        let mut best: Option<(usize, RatedHint)> = None;
        for offset in self.offsets() {
            let Some(candidate) = self.best_hint(offset) else { continue };
            if best.is_none_or(|(_, best)| candidate.removed > best.removed) {
                best = Some((offset, candidate));
            }
        }
        best.map(|(offset, RatedHint { hint, .. })| Move::Hint { offset: offset as u8, hint })
    }

    fn best_hint(&self, offset: usize) -> Option<RatedHint> {
        let cards = self.view.hand_indices(offset);
        let possible = self.memory.hand(self.view.seat(offset));
        let target = Target::new(cards, possible, self.outlook.playable);
        target.best_hint(|| self.next_warning_rank().filter(|_| offset == 1))
    }

    /// The rank of the card that the next seat means to discard, when a hint of it is a warning.
    fn next_warning_rank(&self) -> Option<usize> {
        let (slot, card) = self.next_discard?;
        let rank = kinds::rank(card.into());
        self.memory.is_warning(self.view.seat(1), slot, rank).then_some(rank)
    }

    /// Plays the likeliest card on the chance that it fits, rather than temporise, when the deck is
    /// about to run out: a little earlier while no life token is lost.
    fn gamble(&self) -> Option<Move> {
        let last_cards = if self.view.life_tokens() >= 3 { 3 } else { 1 };
        if self.view.deck_size() > last_cards {
            return None;
        }
        let playable = self.outlook.playable;
        let slots = (0..self.hand.len()).rev();
        let unsure = slots.filter(|&slot| is_mixed(self.memory.own_possible(slot), playable));
        let slot = likeliest(
            unsure.map(|slot| (slot, Share::of(self.memory.own_possible(slot), playable))),
        )?;
        Some(Move::Play { slot: slot as u8 })
    }

    /// With all information tokens on the table and nothing to say: the rank of the oldest card of
    /// the seat before, which means nothing.
    fn reclaim(&self) -> Move {
        let offset = self.view.variant().players() - 1;
        match self.view.hand_indices(offset.into()).first() {
            Some(&card) => {
                Move::Hint { offset, hint: Hint::Rank(Rank::ALL[kinds::rank(card.into())]) }
            }
            None => Move::Play { slot: 0 },
        }
    }

    fn discard(&self) -> Move {
        let slot = self
            .dead_card()
            .or_else(|| self.memory.next_discard(self.view.observer()))
            .unwrap_or_else(|| self.highest_card());
        Move::Discard { slot: slot as u8 }
    }

    /// A card that is dead, first of all the one which others think least likely so, before they
    /// spend a hint on it.
    fn dead_card(&self) -> Option<usize> {
        let dead = self.outlook.dead;
        let is_dead = |slot: &usize| {
            let kinds = self.memory.own_possible(*slot);
            !kinds.is_empty() && kinds.is_subset(dead)
        };
        let slots = (0..self.hand.len()).filter(is_dead);
        likeliest(slots.map(|slot| (slot, Share::of(self.hand[slot], kinds::ALL - dead))))
    }

    /// When all cards are critical, the loss of a high one costs least.
    fn highest_card(&self) -> usize {
        let rank = |slot: usize| kinds::common_rank(self.hand[slot]).map_or(0, |rank| rank + 1);
        let mut highest = 0;
        for slot in 1..self.hand.len() {
            if rank(slot) > rank(highest) {
                highest = slot;
            }
        }
        highest
    }
}

/// The slot of the largest share, the first among equals.
fn likeliest(slots: impl Iterator<Item = (usize, Share)>) -> Option<usize> {
    let mut best: Option<(usize, Share)> = None;
    for (slot, share) in slots {
        if best.is_none_or(|(_, largest)| share.exceeds(largest)) {
            best = Some((slot, share));
        }
    }
    best.map(|(slot, _)| slot)
}
