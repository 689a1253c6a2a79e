//! Beliefs: the conclusions from conventions about cards.
//!
//! A belief concerns an ordered group of cards. A new belief about a card covers the earlier ones;
//! only beliefs from a finesse are ever removed again.

use super::seat_state::CARDS;

/// Maximum size of a group.
const GROUP_SIZE: usize = 31;
/// Maximum number of groups in a game, the search included. Games beside random players need less
/// than half of them. Beyond the maximum no further beliefs are added.
const GROUPS: usize = 512;
/// Maximum number of covered beliefs that may be restored, likewise.
const COVERED: usize = 256;
/// In place of the index of a covered belief: there is none.
const NO_BELIEF: u16 = u16::MAX;
/// In place of a kind of card: there is none.
const NO_CARD: u8 = u8::MAX;

/// An ordered list of cards, by number. A card may occur more than once.
#[derive(Clone, Copy, Debug)]
pub(super) struct CardGroup {
    /// The cards as a bit set.
    pub set: u64,
    ids: [u8; GROUP_SIZE],
    size: u8,
}

impl CardGroup {
    pub(super) const EMPTY: CardGroup = CardGroup { set: 0, ids: [0; GROUP_SIZE], size: 0 };

    pub(super) fn of(id: usize) -> CardGroup {
        let mut group = CardGroup::EMPTY;
        group.push(id);
        group
    }

    /// Appends a card, unless the group is full.
    pub(super) fn push(&mut self, id: usize) {
        if self.len() < GROUP_SIZE {
            self.set |= 1 << id;
            self.ids[self.len()] = id as u8;
            self.size += 1;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.size.into()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.size == 0
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = usize> + DoubleEndedIterator + '_ {
        self.ids[..self.len()].iter().map(|&id| usize::from(id))
    }

    pub(super) fn get(&self, index: usize) -> Option<usize> {
        self.ids[..self.len()].get(index).map(|&id| usize::from(id))
    }

    pub(super) fn first(&self) -> Option<usize> {
        self.get(0)
    }

    /// The cards that satisfy the predicate.
    pub(super) fn filter(&self, mut keep: impl FnMut(usize) -> bool) -> CardGroup {
        self.iter().filter(|&id| keep(id)).collect()
    }

    /// The group with a card inserted at this place.
    pub(super) fn insert(&self, place: usize, id: usize) -> CardGroup {
        let place = place.min(self.len());
        self.iter().take(place).chain([id]).chain(self.iter().skip(place)).collect()
    }

    /// The group with the card at this place replaced.
    pub(super) fn replace(&self, place: usize, id: usize) -> CardGroup {
        let ids = self.iter().enumerate();
        ids.map(|(index, other)| if index == place { id } else { other }).collect()
    }
}

impl FromIterator<usize> for CardGroup {
    fn from_iter<I: IntoIterator<Item = usize>>(ids: I) -> CardGroup {
        let mut group = CardGroup::EMPTY;
        ids.into_iter().for_each(|id| group.push(id));
        group
    }
}

/// What is believed about a group of cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BeliefKind {
    /// Nothing.
    None,
    /// The cards can be played in the order of the group.
    Play,
    /// The cards should be kept.
    Keep,
    /// The cards can be discarded.
    Junk,
}

/// A belief about one card.
#[derive(Clone, Copy, Debug)]
pub(super) struct CardBelief {
    pub kind: BeliefKind,
    /// The card's place in the group.
    pub place: u8,
    /// Whether the card was the first of its group in every play belief so far.
    pub always_first: bool,
    finesse: u8,
    group: u16,
    covered: u16,
}

impl CardBelief {
    const NONE: CardBelief = CardBelief {
        kind: BeliefKind::None,
        place: 0,
        always_first: true,
        finesse: NO_CARD,
        group: 0,
        covered: NO_BELIEF,
    };

    pub(super) const fn is_play(self) -> bool {
        matches!(self.kind, BeliefKind::Play)
    }

    pub(super) const fn is_keep(self) -> bool {
        matches!(self.kind, BeliefKind::Keep)
    }

    /// The kind of the card according to a finesse.
    pub(super) fn finesse(self) -> Option<usize> {
        (self.finesse != NO_CARD).then_some(self.finesse.into())
    }

    /// Whether both beliefs concern the same group.
    pub(super) fn shares_group(self, other: CardBelief) -> bool {
        self.kind == other.kind && self.group == other.group
    }
}

/// The current belief about each card. The search copies it before a try, and restores the copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct TopBeliefs {
    tops: [CardBelief; CARDS],
    groups: u16,
    covered: u16,
    /// Cards with a play belief, as a bit set.
    pub plays: u64,
    /// Those of them that are the first of their group.
    pub first_plays: u64,
    /// Cards with a keep belief.
    pub kept: u64,
    /// Cards with a junk belief.
    pub junk: u64,
    /// Cards with a finesse.
    pub finessed: u64,
}

impl TopBeliefs {
    pub(super) const NONE: TopBeliefs = TopBeliefs {
        tops: [CardBelief::NONE; CARDS],
        groups: 0,
        covered: 0,
        plays: 0,
        first_plays: 0,
        kept: 0,
        junk: 0,
        finessed: 0,
    };

    /// The belief about a card.
    pub(super) fn of(&self, id: usize) -> CardBelief {
        self.tops[id]
    }

    /// Cards with any belief.
    pub(super) const fn any(&self) -> u64 {
        self.plays | self.kept | self.junk
    }

    fn set(&mut self, id: usize, belief: CardBelief) {
        let bit = |is_set: bool| u64::from(is_set) << id;
        let others = !(1 << id);
        self.plays = self.plays & others | bit(belief.is_play());
        self.first_plays = self.first_plays & others | bit(belief.is_play() && belief.place == 0);
        self.kept = self.kept & others | bit(belief.is_keep());
        self.junk = self.junk & others | bit(belief.kind == BeliefKind::Junk);
        self.finessed = self.finessed & others | bit(belief.finesse != NO_CARD);
        self.tops[id] = belief;
    }
}

/// The groups and the covered beliefs. The search only appends to them, so restoring earlier
/// [`TopBeliefs`] undoes everything.
#[derive(Clone, Debug)]
pub(super) struct BeliefArchive {
    groups: [CardGroup; GROUPS],
    covered: [CardBelief; COVERED],
}

impl BeliefArchive {
    pub(super) const EMPTY: BeliefArchive =
        BeliefArchive { groups: [CardGroup::EMPTY; GROUPS], covered: [CardBelief::NONE; COVERED] };

    /// The group of a belief.
    pub(super) fn group(&self, belief: CardBelief) -> &CardGroup {
        &self.groups[usize::from(belief.group)]
    }

    /// Adds a belief about all cards of a group. A finesse stays with its card.
    pub(super) fn believe(&mut self, tops: &mut TopBeliefs, kind: BeliefKind, group: &CardGroup) {
        let Some(index) = self.add_group(tops, group) else { return };
        for (place, id) in group.iter().enumerate() {
            let finesse = tops.of(id).finesse;
            self.push(tops, id, kind, place, index, finesse);
        }
    }

    /// Like [`BeliefArchive::believe`] for a play sequence, in which a finesse gives the kind of
    /// the target.
    pub(super) fn believe_finesse(
        &mut self,
        tops: &mut TopBeliefs,
        group: &CardGroup,
        target: usize,
        place: usize,
        card: usize,
    ) {
        let Some(index) = self.add_group(tops, group) else { return };
        let last = group.iter().rposition(|id| id == target);
        for (other, id) in group.iter().enumerate().filter(|&(other, _)| Some(other) != last) {
            let finesse = tops.of(id).finesse;
            self.push(tops, id, BeliefKind::Play, other, index, finesse);
        }
        self.push(tops, target, BeliefKind::Play, place, index, card as u8);
    }

    /// Removes the current belief about a card, which restores the covered one.
    pub(super) fn remove(&self, tops: &mut TopBeliefs, id: usize) {
        let covered = usize::from(tops.of(id).covered);
        tops.set(id, self.covered.get(covered).copied().unwrap_or(CardBelief::NONE));
    }

    fn add_group(&mut self, tops: &mut TopBeliefs, group: &CardGroup) -> Option<u16> {
        let index = tops.groups;
        if group.is_empty() || usize::from(index) == GROUPS {
            return None;
        }
        self.groups[usize::from(index)] = *group;
        tops.groups += 1;
        Some(index)
    }

    fn push(
        &mut self,
        tops: &mut TopBeliefs,
        id: usize,
        kind: BeliefKind,
        place: usize,
        group: u16,
        finesse: u8,
    ) {
        let before = tops.of(id);
        let is_play = kind == BeliefKind::Play;
        let finesse = if is_play { finesse } else { NO_CARD };
        // Only a belief that a finesse covers can be restored.
        let covered = if finesse == NO_CARD { NO_BELIEF } else { self.cover(tops, before) };
        let always_first = before.always_first && (!is_play || place == 0);
        let place = place as u8;
        tops.set(id, CardBelief { kind, place, always_first, finesse, group, covered });
    }

    fn cover(&mut self, tops: &mut TopBeliefs, belief: CardBelief) -> u16 {
        let index = tops.covered;
        if usize::from(index) == COVERED {
            return NO_BELIEF;
        }
        self.covered[usize::from(index)] = belief;
        tops.covered += 1;
        index
    }
}
