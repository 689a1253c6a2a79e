//! The common knowledge of all seats about all hands, and what the observer sees besides.

use super::kind_sets::{Fraction, is_mixed, left_by};
use crate::bots::bot::Turn;
use crate::bots::common::base_game;
use crate::bots::common::copy_counts::CopyCounts;
use crate::rules::{
    CardSet, Event, Hint, MAX_HAND_SIZE, MAX_PLAYERS, Move, Offset, Outlook, Slot, View,
};

/// The conclusions that every seat draws from the turns so far, by the rules and the conventions.
/// As long as all seats follow the conventions, all have the same common knowledge.
#[derive(Clone, Debug, Default)]
pub(super) struct CommonKnowledge {
    players: usize,
    sizes: [usize; MAX_PLAYERS],
    /// The possible kinds of each card, by seat and slot.
    possible: [[CardSet; MAX_HAND_SIZE]; MAX_PLAYERS],
    /// Copies that were played or discarded, or whose slot is commonly known.
    located: CopyCounts,
    /// The same with the teammates' cards that the observer sees.
    seen: CopyCounts,
    observer: usize,
    /// The kinds that are ruled out for all cards of unknown kind.
    ruled_out: CardSet,
    outlook: Outlook,
    /// Whether no kind remains possible for some card: a partner violated the conventions.
    is_contradicted: bool,
}

impl CommonKnowledge {
    /// The conclusions from hints and visible cards alone.
    pub(super) fn of_hints(view: &View<'_>) -> CommonKnowledge {
        let variant = view.variant();
        let players = usize::from(variant.players());
        let (observer, outlook) = (view.observer().index(), view.outlook());
        let mut knowledge =
            CommonKnowledge { players, observer, outlook, ..CommonKnowledge::default() };
        for card in variant.card_kinds() {
            let kind = CardSet::of(variant.card_index_unchecked(card));
            let is_played = usize::from(view.stack(card.suit)) > card.rank.index();
            for _ in 0..view.discarded(card) + u8::from(is_played) {
                knowledge.located.add_up_to_three(kind);
            }
        }
        knowledge.seen = knowledge.located;
        for seat in variant.seats() {
            let offset = view.offset(seat);
            for &card in view.hand_indices(offset) {
                knowledge.seen.add_up_to_three(CardSet::of(card.into()));
            }
            let (seat, hints) = (seat.index(), view.hand_knowledge(offset));
            knowledge.sizes[seat] = hints.len();
            for (slot, hints) in hints.iter().enumerate() {
                let plausible = hints.plausible(variant);
                knowledge.possible[seat][slot] = base_game::ALL;
                knowledge.narrow(seat, slot, plausible);
            }
        }
        knowledge.rule_out_exhausted();
        knowledge
    }

    /// The possible kinds of each card of a hand, the oldest card first.
    pub(super) fn hand(&self, seat: usize) -> &[CardSet] {
        &self.possible[seat][..self.sizes[seat]]
    }

    pub(super) const fn outlook(&self) -> Outlook {
        self.outlook
    }

    /// The possible kinds of a card of the observer, given all that the observer sees.
    pub(super) fn own_possible(&self, slot: usize) -> CardSet {
        let kinds = self.possible[self.observer][slot];
        if kinds.single().is_some() {
            kinds
        } else {
            kinds - self.seen.at_least(CopyCounts::BASE_GAME)
        }
    }

    /// The slot that a seat would discard if it had nothing better to do: among the cards not known
    /// to be critical the one that is most likely dead, on ties the oldest. `None` if the seat
    /// knows a playable or a dead card, or if all its cards are critical.
    pub(super) fn next_discard(&self, seat: usize) -> Option<usize> {
        let Outlook { playable, dead, critical } = self.outlook;
        let mut oldest = None;
        let mut likeliest: Option<(usize, Fraction)> = None;
        for (slot, &kinds) in self.hand(seat).iter().enumerate() {
            if kinds.is_subset(playable) || kinds.is_subset(dead) {
                return None;
            }
            if kinds.is_subset(critical) {
                continue;
            }
            if !kinds.intersects(dead) {
                oldest = oldest.or(Some(slot));
                continue;
            }
            let fraction = Fraction::of(kinds, dead);
            if likeliest.is_none_or(|(_, largest)| fraction.exceeds(largest)) {
                likeliest = Some((slot, fraction));
            }
        }
        likeliest.map(|(slot, _)| slot).or(oldest)
    }

    /// Whether a hint of this rank by the previous seat would warn this seat that its next discard
    /// is critical.
    pub(super) fn is_warning(&self, seat: usize, slot: usize, rank: usize) -> bool {
        self.possible[seat][slot].intersects(base_game::of_rank(rank) & self.outlook.critical)
    }

    /// Updates the knowledge with a turn.
    pub(super) fn observe(&mut self, turn: &Turn<'_>) {
        let Turn { before, event, after } = turn;
        match event.played {
            Move::Hint { offset, hint } => self.hear_hint(before, event, offset.index(), hint),
            Move::Discard { slot } => {
                self.note_missing_warning(before, event.seat.index());
                self.note_finesse(before, event, slot.index());
            }
            Move::Play { .. } | Move::AnnouncedPlay { .. } => {
                self.note_missing_warning(before, event.seat.index());
            }
        }
        if let Some(card) = event.card {
            let kind = before.variant().card_index_unchecked(card);
            self.replace_card(before, event, CardSet::of(kind));
            if let Some(drawn) = event.drawn {
                self.seen
                    .add_up_to_three(CardSet::of(before.variant().card_index_unchecked(drawn)));
            }
            self.outlook = after.outlook();
        }
        self.rule_out_exhausted();
        if self.is_contradicted {
            *self = CommonKnowledge::of_hints(after);
        }
    }

    fn hear_hint(&mut self, before: &View<'_>, event: &Event, offset: usize, hint: Hint) {
        let from = event.seat.index();
        let target = self.seat_after(from, offset);
        let infers = match hint {
            Hint::Color(_) => true,
            Hint::Rank(rank) => {
                !self.is_pass(before, event, offset)
                    && !self.hear_warning(event, target, offset, rank.index())
            }
        };
        self.narrow_by_hint(event, target, hint, infers);
        if offset != 1 {
            self.note_missing_warning(before, from);
        }
    }

    /// With all information tokens available, a rank hint that touches the previous seat's oldest
    /// card is only a pass.
    fn is_pass(&self, before: &View<'_>, event: &Event, offset: usize) -> bool {
        !before.may_discard() && offset == self.players - 1 && event.touched.contains(Slot::OLDEST)
    }

    /// Whether a rank hint to the next seat touches its next discard and so is a warning. Applies
    /// the warning.
    fn hear_warning(&mut self, event: &Event, target: usize, offset: usize, rank: usize) -> bool {
        let Some(slot) = self.next_discard(target).filter(|_| offset == 1) else {
            return false;
        };
        let is_warning = event.touched.contains(Slot::new_unchecked(slot))
            && self.is_warning(target, slot, rank);
        if is_warning {
            self.narrow(target, slot, self.outlook.critical);
        }
        is_warning
    }

    /// Applies the content of a hint, and its meaning: unless it makes a card known to be playable,
    /// the newest touched card that may be playable is playable.
    fn narrow_by_hint(&mut self, event: &Event, target: usize, hint: Hint, infers: bool) {
        let playable = self.outlook.playable;
        let named = base_game::of_hint(hint);
        let mut reveals = false;
        let mut meant = None;
        for slot in (0..self.sizes[target]).rev() {
            let touched = event.touched.contains(Slot::new_unchecked(slot));
            let may_be_playable = is_mixed(self.possible[target][slot], playable);
            self.narrow(target, slot, left_by(named, touched));
            let kinds = self.possible[target][slot];
            if may_be_playable && kinds.is_subset(playable) {
                reveals = true;
            } else if may_be_playable && touched && kinds.intersects(playable) {
                meant = meant.or(Some(slot));
            }
        }
        if let Some(slot) = meant.filter(|_| infers && !reveals) {
            self.narrow(target, slot, playable);
        }
    }

    /// A turn other than a hint to the next seat means that the next seat's next discard is not
    /// critical: otherwise there would have been a warning.
    fn note_missing_warning(&mut self, before: &View<'_>, from: usize) {
        if before.deck_size() == 0 || !before.may_hint() {
            return;
        }
        let next = self.seat_after(from, 1);
        if let Some(slot) = self.next_discard(next) {
            self.narrow(next, slot, base_game::ALL - self.outlook.critical);
        }
    }

    /// A seat that discards a card that it knows to be playable sees a second copy as the newest card
    /// of another hand. If no hand that the observer sees has it there, it is the observer's newest.
    fn note_finesse(&mut self, before: &View<'_>, event: &Event, slot: usize) {
        let from = event.seat.index();
        let known = self.possible[from][slot];
        let (Some(kind), true) = (known.single(), known.is_subset(self.outlook.playable)) else {
            return;
        };
        let holds = |&offset: &Offset| {
            before.seat(offset) != event.seat
                && before.hand_indices(offset).last().is_some_and(|&card| usize::from(card) == kind)
        };
        let holder =
            before.seat(before.variant().teammates().find(holds).unwrap_or(Offset::OWN)).index();
        if holder != from && self.sizes[holder] > 0 {
            self.narrow(holder, self.sizes[holder] - 1, known);
        }
    }

    /// A card of this kind left a hand; a new one was drawn unless the deck was empty.
    fn replace_card(&mut self, before: &View<'_>, event: &Event, kind: CardSet) {
        let Some(slot) = event.played.slot() else { return };
        let (seat, slot) = (event.seat.index(), slot.index());
        let known = self.possible[seat][slot];
        if known != kind {
            self.locate(seat, kind);
            self.is_contradicted |= !known.intersects(kind);
        }
        let hand = &mut self.possible[seat];
        for index in 0..MAX_HAND_SIZE - 1 {
            hand[index] = hand[index + usize::from(index >= slot)];
        }
        if before.deck_size() > 0 {
            hand[self.sizes[seat] - 1] = base_game::ALL - self.ruled_out;
        } else {
            self.sizes[seat] -= 1;
        }
    }

    /// Restricts a card to these kinds.
    fn narrow(&mut self, seat: usize, slot: usize, kinds: CardSet) {
        let before = self.possible[seat][slot];
        let narrowed = before & kinds;
        self.possible[seat][slot] = narrowed;
        self.is_contradicted |= narrowed.is_empty();
        if narrowed != before && narrowed.single().is_some() {
            self.locate(seat, narrowed);
        }
    }

    /// A card of this kind is now known to be in this hand, or left it.
    fn locate(&mut self, seat: usize, kind: CardSet) {
        self.located.add_up_to_three(kind);
        // A teammate's card was seen when it was drawn.
        if seat == self.observer {
            self.seen.add_up_to_three(kind);
        }
    }

    /// Rules out the kinds whose copies are all located, until a fixed point: cards that become
    /// known may exhaust more kinds.
    fn rule_out_exhausted(&mut self) {
        loop {
            let exhausted = self.located.at_least(CopyCounts::BASE_GAME);
            if exhausted == self.ruled_out {
                return;
            }
            let fresh = exhausted - self.ruled_out;
            self.ruled_out = exhausted;
            for seat in 0..self.players {
                for slot in 0..self.sizes[seat] {
                    let kinds = self.possible[seat][slot];
                    if kinds.intersects(fresh) && kinds.single().is_none() {
                        self.narrow(seat, slot, base_game::ALL - fresh);
                    }
                }
            }
        }
    }

    const fn seat_after(&self, seat: usize, offset: usize) -> usize {
        let sum = seat + offset;
        if sum >= self.players { sum - self.players } else { sum }
    }
}
