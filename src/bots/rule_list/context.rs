//! What a rule sees: the view, the sets that rules share, and the generator.

use std::hint::select_unpredictable;

use super::open_cards::{GoneCopies, OpenCards};
use crate::bots::common::copy_counts::CopyCounts;
use crate::bots::random::any_legal;
use crate::rules::{Card, CardSet, GameRng, Hint, Knowledge, MAX_HAND_SIZE, Move, Offset, View};

/// The input of the rules in one turn, and what they have computed so far.
#[derive(Debug)]
pub struct RuleContext<'a> {
    pub(super) view: &'a View<'a>,
    pub(super) open: &'a OpenCards,
    gone: &'a mut GoneCopies,
    pub(super) rng: &'a mut GameRng,
    /// The copies in the deck and in the observer's hand, once computed.
    unseen: Option<CopyCounts>,
    /// The argument and result of the last [`RuleContext::most_probable`]. Lists repeat the call.
    last_most_probable: Option<(CardSet, Option<(usize, f64)>)>,
}

/// What the hints say about a card.
#[derive(Clone, Copy, Debug)]
pub(super) struct CardHints {
    pub plausible: CardSet,
    /// Whether the suit was hinted.
    pub suit: bool,
    /// Whether the rank was hinted.
    pub rank: bool,
}

/// A card in a teammate's hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct TeammateCard {
    offset: Offset,
    /// The index of its kind.
    pub kind: usize,
    pub card: Card,
    pub hints: CardHints,
}

impl<'a> RuleContext<'a> {
    #[inline]
    pub(super) fn new(
        view: &'a View<'a>,
        open: &'a OpenCards,
        gone: &'a mut GoneCopies,
        rng: &'a mut GameRng,
    ) -> RuleContext<'a> {
        RuleContext { view, open, gone, rng, unseen: None, last_most_probable: None }
    }

    #[inline]
    fn card_hints(&self, knowledge: Knowledge) -> CardHints {
        let variant = self.view.variant();
        CardHints {
            plausible: knowledge.plausible(variant),
            suit: knowledge.is_suit_hinted(variant),
            rank: knowledge.is_rank_hinted(variant),
        }
    }

    /// Whether this card's stack is complete.
    pub(super) fn is_suit_complete(&self, card: Card) -> bool {
        let suit = self.view.variant().tables().suit_cards[card.suit.index()];
        CardSet(suit).is_subset(self.open.played)
    }

    /// Whether every stack has reached this card's rank.
    pub(super) fn is_rank_complete(&self, card: Card) -> bool {
        let rank = self.view.variant().tables().rank_cards[card.rank.index()];
        CardSet(rank).is_subset(self.open.played)
    }

    /// One of the kinds; `None` for the empty set.
    pub(super) fn any_of(&self, kinds: CardSet) -> Option<Card> {
        self.view.variant().tables().card.get(kinds.0.trailing_zeros() as usize).copied()
    }

    /// The slots of the observer's hand and the hints about them, the oldest first.
    #[inline]
    pub(super) fn own_hand(&self) -> impl Iterator<Item = (usize, CardHints)> + use<'_, 'a> {
        let hints = self
            .view
            .hand_knowledge(Offset::OWN)
            .iter()
            .map(|&knowledge| self.card_hints(knowledge));
        hints.enumerate()
    }

    /// The cards of a teammate, the oldest first.
    #[inline]
    pub(super) fn hand(&self, offset: Offset) -> impl Iterator<Item = TeammateCard> + use<'_, 'a> {
        let cards = &self.view.variant().tables().card;
        self.view.teammate_cards(offset).map(move |(kind, knowledge)| {
            let kind = usize::from(kind);
            TeammateCard { offset, kind, card: cards[kind], hints: self.card_hints(knowledge) }
        })
    }

    /// The cards of all teammates, by offset.
    pub(super) fn hands(&self) -> impl Iterator<Item = TeammateCard> + use<'_, 'a> {
        self.view.variant().teammates().flat_map(|offset| self.hand(offset))
    }

    fn unseen(&mut self) -> CopyCounts {
        if let Some(unseen) = self.unseen {
            return unseen;
        }
        let mut seen = self.gone.count(self.view, self.open.played);
        for offset in self.view.variant().teammates() {
            for &kind in self.view.hand_indices(offset) {
                seen.add(CardSet::of(kind.into()));
            }
        }
        let unseen = CopyCounts::of_deck(self.view.variant()).minus(seen);
        self.unseen = Some(unseen);
        unseen
    }

    /// A uniformly random legal move.
    pub(super) fn any_legal(&mut self) -> Move {
        any_legal(self.view, self.rng)
    }

    /// The observer's slot that most likely holds one of these kinds, on ties the oldest, and its
    /// probability: their fraction among the unseen copies of the slot's plausible kinds. `None`
    /// for an empty hand.
    pub(super) fn most_probable(&mut self, wanted: CardSet) -> Option<(usize, f64)> {
        match self.last_most_probable {
            Some((kinds, slot)) if kinds == wanted => slot,
            _ => {
                let slot = self.find_most_probable(wanted);
                self.last_most_probable = Some((wanted, slot));
                slot
            }
        }
    }

    fn find_most_probable(&mut self, wanted: CardSet) -> Option<(usize, f64)> {
        let unseen = self.unseen();
        // For each slot, its plausible kinds that are wanted, and all its plausible kinds.
        let mut sets = [CardSet::EMPTY; 2 * MAX_HAND_SIZE];
        let hints = self.view.hand_knowledge(Offset::OWN);
        for (knowledge, sets) in hints.iter().zip(sets.as_chunks_mut().0) {
            let plausible = knowledge.plausible(self.view.variant());
            *sets = [plausible & wanted, plausible];
        }
        let copies = unseen.totals(sets);
        // `good` of `all` copies are wanted. The comparison is branch-free: its outcome is
        // unpredictable, and a misprediction costs more than the arithmetic.
        let (mut best, mut good, mut all) = (0, 0, 1);
        for (slot, &[good_here, all_here]) in copies.as_chunks().0[..hints.len()].iter().enumerate()
        {
            let is_better = good_here * all > good * all_here;
            best = select_unpredictable(is_better, slot, best);
            good = select_unpredictable(is_better, good_here, good);
            all = select_unpredictable(is_better, all_here, all);
        }
        (!hints.is_empty()).then(|| (best, f64::from(good) / f64::from(all)))
    }
}

impl TeammateCard {
    /// The hint of the card's colour.
    pub fn tell_suit(self) -> Move {
        Move::Hint { offset: self.offset, hint: Hint::Color(self.card.suit) }
    }

    /// The hint of the card's rank.
    pub fn tell_rank(self) -> Move {
        Move::Hint { offset: self.offset, hint: Hint::Rank(self.card.rank) }
    }
}
