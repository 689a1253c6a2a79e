//! What the conventions make of cards: groups of cards that a belief ties together.
//!
//! Cards of a group share one belief, and a group has an order. A belief about a card covers the
//! ones before; only beliefs that came with a finesse are ever lifted again.

use super::cards::CARDS;

/// Most cards in a group.
const GROUP_SIZE: usize = 31;
/// Most groups of a game and what is thought about it. Even with players who hint at random, half
/// of them were never needed; were they all taken, nothing more would be believed.
const GROUPS: usize = 512;
/// Most beliefs that lie under others and may come to light again, likewise.
const COVERED: usize = 256;
/// No belief lies under this one.
const NOTHING: u16 = u16::MAX;
/// No kind of card.
const NO_CARD: u8 = u8::MAX;

/// An ordered list of cards, by number. The same card may be in it more than once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// The cards as a set: a bit each.
    pub set: u64,
    ids: [u8; GROUP_SIZE],
    size: u8,
}

impl Group {
    pub(super) const EMPTY: Group = Group { set: 0, ids: [0; GROUP_SIZE], size: 0 };

    pub(super) fn of(id: usize) -> Group {
        let mut group = Group::EMPTY;
        group.push(id);
        group
    }

    /// Adds a card at the end. A full group stays as it is.
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

    /// The cards for which this holds.
    pub(super) fn filter(&self, mut keep: impl FnMut(usize) -> bool) -> Group {
        self.iter().filter(|&id| keep(id)).collect()
    }

    /// With a card more at this place, before the ones that follow.
    pub(super) fn insert(&self, place: usize, id: usize) -> Group {
        let place = place.min(self.len());
        self.iter().take(place).chain([id]).chain(self.iter().skip(place)).collect()
    }

    /// With another card in this place.
    pub(super) fn replace(&self, place: usize, id: usize) -> Group {
        let ids = self.iter().enumerate();
        ids.map(|(index, other)| if index == place { id } else { other }).collect()
    }
}

impl FromIterator<usize> for Group {
    fn from_iter<I: IntoIterator<Item = usize>>(ids: I) -> Group {
        let mut group = Group::EMPTY;
        ids.into_iter().for_each(|id| group.push(id));
        group
    }
}

/// What is believed of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Idea {
    /// Nothing.
    None,
    /// The cards of the group can be played in this order.
    Play,
    /// The cards of the group are to be kept.
    Keep,
    /// The cards of the group can be discarded.
    Junk,
}

/// A belief about one card.
#[derive(Clone, Copy, Debug)]
pub(super) struct Belief {
    pub idea: Idea,
    /// The card's place in the group.
    pub place: u8,
    /// Whether every play that was ever believed of this card was the first of its group.
    always_first: bool,
    finesse: u8,
    group: u16,
    covered: u16,
}

impl Belief {
    const NONE: Belief = Belief {
        idea: Idea::None,
        place: 0,
        always_first: true,
        finesse: NO_CARD,
        group: 0,
        covered: NOTHING,
    };

    pub(super) const fn is_play(self) -> bool {
        matches!(self.idea, Idea::Play)
    }

    pub(super) const fn is_keep(self) -> bool {
        matches!(self.idea, Idea::Keep)
    }

    pub(super) const fn is_junk(self) -> bool {
        matches!(self.idea, Idea::Junk)
    }

    /// Whether anything is believed of the card.
    pub(super) const fn is_any(self) -> bool {
        !matches!(self.idea, Idea::None)
    }

    /// Whether every play that was ever believed of this card was the first of its group.
    pub(super) const fn was_always_first(self) -> bool {
        self.always_first
    }

    /// The kind that a finesse says the card is.
    pub(super) fn finesse(self) -> Option<usize> {
        (self.finesse != NO_CARD).then_some(self.finesse.into())
    }

    /// Whether both beliefs came from the same thought.
    pub(super) fn shares_group(self, other: Belief) -> bool {
        self.idea == other.idea && self.group == other.group
    }
}

/// The beliefs about all cards, but for the groups. This is what is copied to go back to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tops {
    tops: [Belief; CARDS],
    groups: u16,
    covered: u16,
    /// Cards that are believed to be playable some time, as a set.
    pub plays: u64,
    /// Those of them which are the first of their groups.
    pub first_plays: u64,
    /// Cards that are believed to be kept.
    pub kept: u64,
    /// Cards that are believed to be junk.
    pub junk: u64,
    /// Cards about which there was a finesse.
    pub finessed: u64,
}

impl Tops {
    pub(super) const NONE: Tops = Tops {
        tops: [Belief::NONE; CARDS],
        groups: 0,
        covered: 0,
        plays: 0,
        first_plays: 0,
        kept: 0,
        junk: 0,
        finessed: 0,
    };

    /// The belief about a card.
    pub(super) fn of(&self, id: usize) -> Belief {
        self.tops[id]
    }

    /// Cards about which anything is believed.
    pub(super) const fn any(&self) -> u64 {
        self.plays | self.kept | self.junk
    }

    fn set(&mut self, id: usize, belief: Belief) {
        let bit = |is_set: bool| u64::from(is_set) << id;
        let others = !(1 << id);
        self.plays = self.plays & others | bit(belief.is_play());
        self.first_plays = self.first_plays & others | bit(belief.is_play() && belief.place == 0);
        self.kept = self.kept & others | bit(belief.is_keep());
        self.junk = self.junk & others | bit(belief.is_junk());
        self.finessed = self.finessed & others | bit(belief.finesse != NO_CARD);
        self.tops[id] = belief;
    }
}

/// Groups and covered beliefs. They only grow while a player thinks, so that going back to
/// earlier [`Tops`] is all that it takes to forget.
#[derive(Clone, Debug)]
pub(super) struct Archive {
    groups: [Group; GROUPS],
    covered: [Belief; COVERED],
}

impl Archive {
    pub(super) const EMPTY: Archive =
        Archive { groups: [Group::EMPTY; GROUPS], covered: [Belief::NONE; COVERED] };

    /// The group of a belief.
    pub(super) fn group(&self, belief: Belief) -> &Group {
        &self.groups[usize::from(belief.group)]
    }

    /// The same is believed of all cards of a group from now on. A finesse stays with its card.
    pub(super) fn believe(&mut self, tops: &mut Tops, idea: Idea, group: &Group) {
        let Some(index) = self.add_group(tops, group) else { return };
        for (place, id) in group.iter().enumerate() {
            let finesse = tops.of(id).finesse;
            self.push(tops, id, idea, place, index, finesse);
        }
    }

    /// Like [`Archive::believe`] of a play sequence, in which the card at this place is said to
    /// be of a kind by a finesse.
    pub(super) fn believe_finesse(
        &mut self,
        tops: &mut Tops,
        group: &Group,
        target: usize,
        place: usize,
        card: usize,
    ) {
        let Some(index) = self.add_group(tops, group) else { return };
        let last = group.iter().rposition(|id| id == target);
        for (other, id) in group.iter().enumerate().filter(|&(other, _)| Some(other) != last) {
            let finesse = tops.of(id).finesse;
            self.push(tops, id, Idea::Play, other, index, finesse);
        }
        self.push(tops, target, Idea::Play, place, index, card as u8);
    }

    /// Lifts the topmost belief about a card.
    pub(super) fn lift(&self, tops: &mut Tops, id: usize) {
        let covered = usize::from(tops.of(id).covered);
        tops.set(id, self.covered.get(covered).copied().unwrap_or(Belief::NONE));
    }

    fn add_group(&mut self, tops: &mut Tops, group: &Group) -> Option<u16> {
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
        tops: &mut Tops,
        id: usize,
        idea: Idea,
        place: usize,
        group: u16,
        finesse: u8,
    ) {
        let before = tops.of(id);
        let is_play = idea == Idea::Play;
        let finesse = if is_play { finesse } else { NO_CARD };
        // Only what lies under a finesse can come to light again.
        let covered = if finesse == NO_CARD { NOTHING } else { self.cover(tops, before) };
        let always_first = before.always_first && (!is_play || place == 0);
        let place = place as u8;
        tops.set(id, Belief { idea, place, always_first, finesse, group, covered });
    }

    fn cover(&mut self, tops: &mut Tops, belief: Belief) -> u16 {
        let index = tops.covered;
        if usize::from(index) == COVERED {
            return NOTHING;
        }
        self.covered[usize::from(index)] = belief;
        tops.covered += 1;
        index
    }
}
