use super::counts::Counts;
use super::piles::Piles;
use crate::bots::random::any_legal;
use crate::rules::{Card, CardSet, Chance, Hint, Move, View};

/// What the rules of a list look at in one turn.
#[derive(Debug)]
pub struct Scene<'a> {
    pub(super) view: &'a View<'a>,
    pub(super) piles: &'a Piles,
    pub(super) chance: &'a mut Chance,
    unseen: Option<Counts>,
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
    pub(super) fn new(view: &'a View<'a>, piles: &'a Piles, chance: &'a mut Chance) -> Scene<'a> {
        Scene { view, piles, chance, unseen: None }
    }

    pub(super) fn may_hint(&self) -> bool {
        self.view.information_tokens() > 0
    }

    /// Whether tokens are missing. The hand may be empty all the same.
    pub(super) fn may_discard(&self) -> bool {
        self.view.information_tokens() < self.view.variant().max_information_tokens()
    }

    #[inline]
    fn told(&self, offset: usize, slot: usize) -> Told {
        let variant = self.view.variant();
        let knowledge = self.view.knowledge(offset, slot);
        Told {
            plausible: knowledge.plausible_set(variant),
            suit: knowledge.is_suit_hinted(variant),
            rank: knowledge.is_rank_hinted(variant),
        }
    }

    /// The slots of the own hand and what is told of them, the oldest first.
    pub(super) fn own_hand(&self) -> impl Iterator<Item = (usize, Told)> + use<'_, 'a> {
        (0..self.view.hand_size(0)).map(|slot| (slot, self.told(0, slot)))
    }

    /// The cards of a teammate, the oldest first.
    pub(super) fn hand(&self, offset: usize) -> impl Iterator<Item = Seen> + use<'_, 'a> {
        let cards = &self.view.variant().tables().card;
        self.view.hand_indices(offset).iter().enumerate().map(move |(slot, &kind)| {
            let kind = usize::from(kind);
            Seen { offset: offset as u8, kind, card: cards[kind], told: self.told(offset, slot) }
        })
    }

    /// The cards of all teammates, the next player's first.
    pub(super) fn hands(&self) -> impl Iterator<Item = Seen> + use<'_, 'a> {
        let players = usize::from(self.view.variant().players());
        (1..players).flat_map(|offset| self.hand(offset))
    }

    /// Copies that are in the deck or in the own hand.
    fn unseen(&mut self) -> Counts {
        *self.unseen.get_or_insert_with(|| {
            let mut left = self.piles.left;
            for offset in 1..usize::from(self.view.variant().players()) {
                for &kind in self.view.hand_indices(offset) {
                    left.remove(kind.into());
                }
            }
            left
        })
    }

    /// Any legal move, each as likely as the others.
    pub(super) fn any_legal(&mut self) -> Move {
        any_legal(self.view, self.chance)
    }

    /// The own slot that most probably holds one of these cards, and how probable that is: the
    /// share of them among the unseen copies of the cards that hints leave plausible. The oldest
    /// of several; nothing for an empty hand.
    pub(super) fn most_probable(&mut self, wanted: CardSet) -> Option<(usize, f64)> {
        let unseen = self.unseen();
        let mut best = None;
        let mut last = CardSet::EMPTY;
        for (slot, told) in self.own_hand() {
            if told.plausible == last {
                continue;
            }
            last = told.plausible;
            let (good, all) = (unseen.of(last & wanted), unseen.of(last));
            if best.is_none_or(|(_, most, among)| good * among > most * all) {
                best = Some((slot, good, all));
            }
        }
        best.map(|(slot, good, all)| (slot, f64::from(good) / f64::from(all)))
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
