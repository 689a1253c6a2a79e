use std::hint::select_unpredictable;

use super::counts::Counts;
use super::piles::{Gone, Piles};
use crate::bots::random::any_legal;
use crate::rules::{
    Card, CardSet, GameRng, Hint, Knowledge, MAX_HAND_SIZE, Move, View, bit_counts,
};

/// What the rules of a list look at in one turn.
#[derive(Debug)]
pub struct Scene<'a> {
    pub(super) view: &'a View<'a>,
    pub(super) piles: &'a Piles,
    gone: &'a mut Gone,
    pub(super) rng: &'a mut GameRng,
    /// Copies that are in the deck or in the own hand, once a rule asked for them.
    unseen: Option<Counts>,
    /// The last answer of [`Scene::most_probable`] and what was wanted: lists ask again.
    found: Option<(CardSet, Option<(usize, f64)>)>,
}

/// What the hints say about a card in a hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    /// The cards that they leave plausible.
    pub plausible: CardSet,
    /// Whether one named its suit.
    pub suit: bool,
    /// Whether one named its rank.
    pub rank: bool,
}

/// A card in a teammate's hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    offset: u8,
    /// The index of its kind.
    pub kind: usize,
    pub card: Card,
    pub told: Told,
}

impl<'a> Scene<'a> {
    #[inline]
    pub(super) fn new(
        view: &'a View<'a>,
        piles: &'a Piles,
        gone: &'a mut Gone,
        rng: &'a mut GameRng,
    ) -> Scene<'a> {
        Scene { view, piles, gone, rng, unseen: None, found: None }
    }

    pub(super) fn may_hint(&self) -> bool {
        self.view.information_tokens() > 0
    }

    /// Whether tokens are missing. The hand may be empty all the same.
    pub(super) fn may_discard(&self) -> bool {
        self.view.information_tokens() < self.view.variant().max_information_tokens()
    }

    #[inline]
    fn told(&self, knowledge: Knowledge) -> Told {
        let variant = self.view.variant();
        Told {
            plausible: knowledge.plausible_set(variant),
            suit: knowledge.is_suit_hinted(variant),
            rank: knowledge.is_rank_hinted(variant),
        }
    }

    /// Whether this card's stack is complete.
    pub(super) fn is_suit_complete(&self, card: Card) -> bool {
        let suit = self.view.variant().tables().suit_cards[card.suit.index()];
        CardSet(suit).is_subset(self.piles.played)
    }

    /// Whether every stack has reached this card's rank.
    pub(super) fn is_rank_complete(&self, card: Card) -> bool {
        let rank = self.view.variant().tables().rank_cards[card.rank.index()];
        CardSet(rank).is_subset(self.piles.played)
    }

    /// One of the cards of a set that is not empty.
    pub(super) fn any_of(&self, kinds: CardSet) -> Option<Card> {
        self.view.variant().tables().card.get(kinds.0.trailing_zeros() as usize).copied()
    }

    /// The slots of the own hand and what is told of them, the oldest first.
    #[inline]
    pub(super) fn own_hand(&self) -> impl Iterator<Item = (usize, Told)> + use<'_, 'a> {
        let told = self.view.hints_about(0).iter().map(|&knowledge| self.told(knowledge));
        told.enumerate()
    }

    /// The cards of a teammate, the oldest first.
    #[inline]
    pub(super) fn hand(&self, offset: usize) -> impl Iterator<Item = Seen> + use<'_, 'a> {
        let cards = &self.view.variant().tables().card;
        let hand = self.view.hand_indices(offset).iter().zip(self.view.hints_about(offset));
        hand.map(move |(&kind, &knowledge)| {
            let kind = usize::from(kind);
            Seen { offset: offset as u8, kind, card: cards[kind], told: self.told(knowledge) }
        })
    }

    /// The cards of all teammates, the next player's first.
    pub(super) fn hands(&self) -> impl Iterator<Item = Seen> + use<'_, 'a> {
        let players = usize::from(self.view.variant().players());
        (1..players).flat_map(|offset| self.hand(offset))
    }

    fn unseen(&mut self) -> Counts {
        if let Some(unseen) = self.unseen {
            return unseen;
        }
        let mut seen = self.gone.count(self.view, self.piles.played);
        for offset in 1..usize::from(self.view.variant().players()) {
            for &kind in self.view.hand_indices(offset) {
                seen.add(kind.into());
            }
        }
        let unseen = Counts::all(self.view.variant()).minus(seen);
        self.unseen = Some(unseen);
        unseen
    }

    /// Any legal move, each as likely as the others.
    pub(super) fn any_legal(&mut self) -> Move {
        any_legal(self.view, self.rng)
    }

    /// The own slot that most probably holds one of these cards, and how probable that is: the
    /// share of them among the unseen copies of the cards that hints leave plausible. The oldest
    /// of several; nothing for an empty hand.
    pub(super) fn most_probable(&mut self, wanted: CardSet) -> Option<(usize, f64)> {
        match self.found {
            Some((before, found)) if before == wanted => found,
            _ => {
                let found = self.find_most_probable(wanted);
                self.found = Some((wanted, found));
                found
            }
        }
    }

    fn find_most_probable(&mut self, wanted: CardSet) -> Option<(usize, f64)> {
        let unseen = self.unseen();
        let mut words = [0; 4 * MAX_HAND_SIZE];
        let hints = self.view.hints_about(0);
        for (knowledge, words) in hints.iter().zip(words.as_chunks_mut().0) {
            let plausible = knowledge.plausible_set(self.view.variant());
            *words = unseen.words(plausible, wanted);
        }
        let counts = bit_counts(&words);
        // So many copies of so many are wanted. No branches but the loop's: what hints leave
        // plausible cannot be predicted, and counting all costs less than guessing wrongly.
        let (mut best, mut good, mut all) = (0, 0, 1);
        for (slot, counts) in counts.as_chunks().0[..hints.len()].iter().enumerate() {
            let [good_here, all_here] = Counts::shares(*counts);
            let is_better = good_here * all > good * all_here;
            best = select_unpredictable(is_better, slot, best);
            good = select_unpredictable(is_better, good_here, good);
            all = select_unpredictable(is_better, all_here, all);
        }
        (!hints.is_empty()).then(|| (best, f64::from(good) / f64::from(all)))
    }
}

impl Seen {
    /// Tells the card's colour.
    pub fn tell_suit(self) -> Move {
        Move::Hint { offset: self.offset, hint: Hint::Color(self.card.suit) }
    }

    /// Tells the card's rank.
    pub fn tell_rank(self) -> Move {
        Move::Hint { offset: self.offset, hint: Hint::Rank(self.card.rank) }
    }
}
