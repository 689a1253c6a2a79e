//! The choice of a move.

use super::common_knowledge::CommonKnowledge;
use super::hint_choice::HintTarget;
use super::kind_sets::{Fraction, is_mixed};
use crate::bots::common::base_game;
use crate::bots::common::first_best;
use crate::rules::{CardSet, Hint, Move, Offset, Outlook, Rank, Slot, View};

/// What the seat to act knows.
pub(super) struct MoveChoice<'a> {
    knowledge: &'a CommonKnowledge,
    view: &'a View<'a>,
    /// The possible kinds of the observer's cards by common knowledge.
    hand: &'a [CardSet],
    outlook: Outlook,
    /// Slot and kind of the next seat's next discard, if there is a token to warn it.
    next_discard: Option<(usize, u8)>,
}

impl<'a> MoveChoice<'a> {
    pub(super) fn new(knowledge: &'a CommonKnowledge, view: &'a View<'a>) -> MoveChoice<'a> {
        let next_discard = || {
            let slot = knowledge.next_discard(view.seat(Offset::NEXT).index())?;
            Some((slot, *view.hand_indices(Offset::NEXT).get(slot)?))
        };
        MoveChoice {
            knowledge,
            view,
            hand: knowledge.hand(view.observer().index()),
            outlook: knowledge.outlook(),
            next_discard: next_discard().filter(|_| view.may_hint()),
        }
    }

    /// The first applicable action, in the order of SmartBot.
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
            .unwrap_or_else(|| if self.view.may_discard() { self.discard() } else { self.pass() })
    }

    /// Keeps the next seat from discarding a critical card, by a hint that makes it play instead or
    /// by a warning.
    fn warn(&self) -> Option<Move> {
        let (_, card) = self.next_discard?;
        if !self.outlook.critical.contains(card.into()) {
            return None;
        }
        let warning = Hint::Rank(Rank::ALL[base_game::rank_of(card.into())]);
        let hint = self.best_hint(Offset::NEXT).map_or(warning, |(hint, _)| hint);
        Some(Move::Hint { offset: Offset::NEXT, hint })
    }

    /// Discards a playable card if exactly one teammate has the same card as its newest, which the
    /// teammate will then know.
    fn discard_for_finesse(&self) -> Option<Move> {
        if !self.view.may_discard() {
            return None;
        }
        let suitable = self.outlook.playable - self.outlook.critical;
        let slot = self.hand.iter().position(|kinds| {
            kinds.is_subset(suitable)
                && kinds.single().is_some_and(|kind| self.newest_cards(kind) == 1)
        })?;
        Some(Move::Discard { slot: Slot::new_unchecked(slot) })
    }

    /// The number of teammates whose newest card is of this kind.
    fn newest_cards(&self, kind: usize) -> usize {
        let newest = |&offset: &Offset| self.view.hand_indices(offset).last().copied();
        self.offsets().filter(|offset| newest(offset).map(usize::from) == Some(kind)).count()
    }

    fn offsets(&self) -> impl Iterator<Item = Offset> + use<> {
        self.view.variant().teammates()
    }

    /// Plays a card known to be playable. First come cards of which the others do not know that
    /// this seat knows them, before they spend a hint on one; then unknown ranks, then low ranks.
    fn play_known(&self) -> Option<Move> {
        let playable = self.outlook.playable;
        let urgency = |slot: usize| {
            let kinds = self.knowledge.own_possible(slot);
            if kinds.is_empty() || !kinds.is_subset(playable) {
                return 0;
            }
            let lowness = base_game::common_rank(kinds).map_or(7, |rank| 5 - rank);
            let is_secret = !self.hand[slot].is_subset(playable);
            lowness + if is_secret { 100 } else { 0 }
        };
        let slots = (0..self.hand.len()).map(|slot| (slot, urgency(slot)));
        let (slot, _) = first_best(slots).filter(|&(_, urgency)| urgency > 0)?;
        Some(Move::Play { slot: Slot::new_unchecked(slot) })
    }

    /// The best hint that makes a teammate play.
    fn hint(&self) -> Option<Move> {
        if !self.view.may_hint() {
            return None;
        }
        let rated = self.offsets().filter_map(|offset| {
            let (hint, removed) = self.best_hint(offset)?;
            Some((Move::Hint { offset, hint }, removed))
        });
        first_best(rated).map(|(hint, _)| hint)
    }

    /// The best hint to a teammate, and the number of possible kinds that it rules out.
    fn best_hint(&self, offset: Offset) -> Option<(Hint, usize)> {
        let cards = self.view.hand_indices(offset);
        let possible = self.knowledge.hand(self.view.seat(offset).index());
        let target = HintTarget::new(cards, possible, self.outlook.playable);
        target.best_hint(|| self.next_warning_rank().filter(|_| offset == Offset::NEXT))
    }

    /// The rank of the next seat's next discard, if a hint of it would be a warning.
    fn next_warning_rank(&self) -> Option<usize> {
        let (slot, card) = self.next_discard?;
        let rank = base_game::rank_of(card.into());
        self.knowledge.is_warning(self.view.seat(Offset::NEXT).index(), slot, rank).then_some(rank)
    }

    /// Plays the card that is most likely playable once the deck is nearly empty, a little earlier
    /// while no life token is lost.
    fn gamble(&self) -> Option<Move> {
        let last_cards = if self.view.life_tokens() >= 3 { 3 } else { 1 };
        if self.view.deck_size() > last_cards {
            return None;
        }
        let playable = self.outlook.playable;
        let slots = (0..self.hand.len()).rev();
        let unsure = slots.filter(|&slot| is_mixed(self.knowledge.own_possible(slot), playable));
        let slot = likeliest(
            unsure.map(|slot| (slot, Fraction::of(self.knowledge.own_possible(slot), playable))),
        )?;
        Some(Move::Play { slot: Slot::new_unchecked(slot) })
    }

    /// The move with nothing to say while all information tokens are available: the rank of the
    /// previous seat's oldest card, which has no meaning.
    fn pass(&self) -> Move {
        let offset = self.view.variant().teammates().next_back().unwrap_or(Offset::NEXT);
        match self.view.hand_indices(offset).first() {
            Some(&card) => {
                Move::Hint { offset, hint: Hint::Rank(Rank::ALL[base_game::rank_of(card.into())]) }
            }
            None => Move::Play { slot: Slot::OLDEST },
        }
    }

    fn discard(&self) -> Move {
        let slot = self
            .dead_card()
            .or_else(|| self.knowledge.next_discard(self.view.observer().index()))
            .unwrap_or_else(|| self.highest_card());
        Move::Discard { slot: Slot::new_unchecked(slot) }
    }

    /// A card known to be dead. First comes the one that the others think least likely dead, before
    /// they spend a hint on it.
    fn dead_card(&self) -> Option<usize> {
        let dead = self.outlook.dead;
        let is_dead = |slot: &usize| {
            let kinds = self.knowledge.own_possible(*slot);
            !kinds.is_empty() && kinds.is_subset(dead)
        };
        let slots = (0..self.hand.len()).filter(is_dead);
        likeliest(slots.map(|slot| (slot, Fraction::of(self.hand[slot], base_game::ALL - dead))))
    }

    /// The card of the highest known rank, whose loss costs least when all cards are critical.
    fn highest_card(&self) -> usize {
        let rank = |slot: usize| base_game::common_rank(self.hand[slot]).map_or(0, |rank| rank + 1);
        let slots = (0..self.hand.len()).map(|slot| (slot, rank(slot)));
        first_best(slots).map_or(0, |(slot, _)| slot)
    }
}

/// The slot with the largest fraction; on ties the first.
fn likeliest(slots: impl Iterator<Item = (usize, Fraction)>) -> Option<usize> {
    let best = slots.reduce(|best, next| if next.1.exceeds(best.1) { next } else { best });
    best.map(|(slot, _)| slot)
}
