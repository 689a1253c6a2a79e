//! What every seat knows of every hand, its owner included, and what one seat sees besides.

use super::kinds::{self, Share, Tally};
use crate::bots::Turn;
use crate::rules::{CardSet, Event, Hint, MAX_HAND_SIZE, MAX_PLAYERS, Move, Outlook, View};

/// What follows from the turns so far, by the rules and by the conventions, for anybody who saw
/// them. While all seats keep to the conventions, all of them remember the same, but for what only
/// the observer sees.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    players: usize,
    sizes: [usize; MAX_PLAYERS],
    /// The kinds that each card may be of, by seat and slot.
    possible: [[CardSet; MAX_HAND_SIZE]; MAX_PLAYERS],
    /// The copies that were played or discarded, and those that a hand is known to hold.
    located: Tally,
    /// The same with the teammates' cards as the observer sees them.
    seen: Tally,
    observer: usize,
    /// The kinds that have been ruled out of all cards that are not known.
    ruled_out: CardSet,
    /// What has become of the kinds by the turns so far.
    outlook: Outlook,
    /// Whether a card can be nothing any more: somebody does not keep to the conventions.
    is_contradicted: bool,
}

impl Memory {
    /// Of nothing; to be overwritten when the first game starts.
    pub(super) const fn blank() -> Memory {
        Memory {
            players: 0,
            sizes: [0; MAX_PLAYERS],
            possible: [[CardSet::EMPTY; MAX_HAND_SIZE]; MAX_PLAYERS],
            located: Tally::new(),
            seen: Tally::new(),
            observer: 0,
            ruled_out: CardSet::EMPTY,
            outlook: Outlook {
                playable: CardSet::EMPTY,
                dead: CardSet::EMPTY,
                critical: CardSet::EMPTY,
            },
            is_contradicted: false,
        }
    }

    /// What hints and open cards alone say at this table.
    pub(super) fn of_hints(view: &View<'_>) -> Memory {
        let variant = view.variant();
        let players = usize::from(variant.players());
        let (observer, outlook) = (view.observer(), view.outlook());
        let mut memory = Memory { players, observer, outlook, ..Memory::blank() };
        for card in variant.card_kinds() {
            let kind = CardSet::of(variant.card_index(card));
            let is_played = usize::from(view.fireworks()[card.suit.index()]) > card.rank.index();
            for _ in 0..view.discarded(card) + u8::from(is_played) {
                memory.located.add(kind);
            }
        }
        memory.seen = memory.located;
        for offset in 0..players {
            for &card in view.hand_indices(offset) {
                memory.seen.add(CardSet::of(card.into()));
            }
            let (seat, size) = (view.seat(offset), view.hand_size(offset));
            memory.sizes[seat] = size;
            for slot in 0..size {
                let plausible = view.knowledge(offset, slot).plausible_set(variant);
                memory.possible[seat][slot] = kinds::ALL;
                memory.narrow(seat, slot, plausible);
            }
        }
        memory.rule_out_exhausted();
        memory
    }

    /// The kinds that each card of a hand may be of, the oldest card first.
    pub(super) fn hand(&self, seat: usize) -> &[CardSet] {
        &self.possible[seat][..self.sizes[seat]]
    }

    /// What has become of the kinds.
    pub(super) const fn outlook(&self) -> Outlook {
        self.outlook
    }

    /// The kinds that an own card may be of, by all that the observer sees.
    pub(super) fn own_possible(&self, slot: usize) -> CardSet {
        let kinds = self.possible[self.observer][slot];
        if kinds.single().is_some() { kinds } else { kinds - self.seen.exhausted() }
    }

    /// The slot that a seat would discard for want of anything better: of the cards that are not
    /// known to be critical, the one which is most likely dead, among equals the oldest. `None`
    /// when it knows a playable or a dead card, or when all its cards are critical.
    pub(super) fn next_discard(&self, seat: usize) -> Option<usize> {
        let Outlook { playable, dead, critical } = self.outlook;
        let mut oldest = None;
        let mut likeliest: Option<(usize, Share)> = None;
        for (slot, &kinds) in self.hand(seat).iter().enumerate() {
            if kinds.is_subset(playable) || kinds.is_subset(dead) {
                return None;
            }
            if kinds.is_subset(critical) {
                continue;
            }
            if !kinds.meets(dead) {
                oldest = oldest.or(Some(slot));
                continue;
            }
            let share = Share::of(kinds, dead);
            if likeliest.is_none_or(|(_, largest)| share.exceeds(largest)) {
                likeliest = Some((slot, share));
            }
        }
        likeliest.map(|(slot, _)| slot).or(oldest)
    }

    /// Whether a hint of this rank, given by the seat before, would tell the next seat that the
    /// card which it means to discard is critical.
    pub(super) fn is_warning(&self, seat: usize, slot: usize, rank: usize) -> bool {
        self.possible[seat][slot].meets(kinds::of_rank(rank) & self.outlook.critical)
    }

    /// Takes in a turn.
    pub(super) fn observe(&mut self, turn: &Turn<'_>) {
        let Turn { before, event, after } = turn;
        match event.played {
            Move::Hint { offset, hint } => self.hear_hint(before, event, offset.into(), hint),
            Move::Discard { slot } => {
                self.note_missing_warning(before, event.seat.into());
                self.note_finesse(before, event, slot.into());
            }
            Move::Play { .. } | Move::AnnouncedPlay { .. } => {
                self.note_missing_warning(before, event.seat.into());
            }
        }
        if let Some(card) = event.card {
            let kind = before.variant().card_index(card);
            self.replace_card(before, event, CardSet::of(kind));
            if let Some(drawn) = event.drawn {
                self.seen.add(CardSet::of(before.variant().card_index(drawn)));
            }
            self.outlook = after.outlook();
        }
        self.rule_out_exhausted();
        if self.is_contradicted {
            *self = Memory::of_hints(after);
        }
    }

    fn hear_hint(&mut self, before: &View<'_>, event: &Event, offset: usize, hint: Hint) {
        let from = usize::from(event.seat);
        let target = self.seat_after(from, offset);
        let infers = match hint {
            Hint::Color(_) => true,
            Hint::Rank(rank) => {
                !self.is_reclaim(before, event, offset)
                    && !self.hear_warning(event, target, offset, rank.index())
            }
        };
        self.narrow_by_hint(event, target, hint, infers);
        if offset != 1 {
            self.note_missing_warning(before, from);
        }
    }

    /// With all information tokens on the table, a rank hint about the oldest card of the seat
    /// before only gets rid of a token.
    fn is_reclaim(&self, before: &View<'_>, event: &Event, offset: usize) -> bool {
        before.information_tokens() == before.variant().max_information_tokens()
            && offset == self.players - 1
            && event.touched.contains(0)
    }

    /// A rank hint to the next seat that points out the card which it means to discard, and may be
    /// a warning, is one.
    fn hear_warning(&mut self, event: &Event, target: usize, offset: usize, rank: usize) -> bool {
        let Some(slot) = self.next_discard(target).filter(|_| offset == 1) else {
            return false;
        };
        let is_warning = event.touched.contains(slot) && self.is_warning(target, slot, rank);
        if is_warning {
            self.narrow(target, slot, self.outlook.critical);
        }
        is_warning
    }

    /// What a hint says outright, and what it means: unless it makes some card known to be
    /// playable, the newest card that it points out, of those that only may be, is.
    fn narrow_by_hint(&mut self, event: &Event, target: usize, hint: Hint, infers: bool) {
        let playable = self.outlook.playable;
        let named = kinds::of_hint(hint);
        let mut reveals = false;
        let mut meant = None;
        for slot in (0..self.sizes[target]).rev() {
            let touched = event.touched.contains(slot);
            let may_be_playable = is_mixed(self.possible[target][slot], playable);
            self.narrow(target, slot, kinds::left_by(named, touched));
            let kinds = self.possible[target][slot];
            if may_be_playable && kinds.is_subset(playable) {
                reveals = true;
            } else if may_be_playable && touched && kinds.meets(playable) {
                meant = meant.or(Some(slot));
            }
        }
        if let Some(slot) = meant.filter(|_| infers && !reveals) {
            self.narrow(target, slot, playable);
        }
    }

    /// A turn other than a hint to the next seat says that the card which that seat means to
    /// discard is not critical: it would have been warned.
    fn note_missing_warning(&mut self, before: &View<'_>, from: usize) {
        if before.deck_size() == 0 || before.information_tokens() == 0 {
            return;
        }
        let next = self.seat_after(from, 1);
        if let Some(slot) = self.next_discard(next) {
            self.narrow(next, slot, kinds::ALL - self.outlook.critical);
        }
    }

    /// Who discards a card that it knows to be playable sees the same card as the newest one of
    /// another hand. An observer who does not see it there holds it.
    fn note_finesse(&mut self, before: &View<'_>, event: &Event, slot: usize) {
        let from = usize::from(event.seat);
        let known = self.possible[from][slot];
        let (Some(kind), true) = (known.single(), known.is_subset(self.outlook.playable)) else {
            return;
        };
        let holds = |&offset: &usize| {
            before.seat(offset) != from
                && before.hand_indices(offset).last().is_some_and(|&card| usize::from(card) == kind)
        };
        let holder = before.seat((1..self.players).find(holds).unwrap_or(0));
        if holder != from && self.sizes[holder] > 0 {
            self.narrow(holder, self.sizes[holder] - 1, known);
        }
    }

    /// A card of this kind left a hand, and another one was drawn for it while there were any.
    fn replace_card(&mut self, before: &View<'_>, event: &Event, kind: CardSet) {
        let (Move::Play { slot } | Move::AnnouncedPlay { slot, .. } | Move::Discard { slot }) =
            event.played
        else {
            return;
        };
        let (seat, slot) = (usize::from(event.seat), usize::from(slot));
        let known = self.possible[seat][slot];
        if known != kind {
            self.locate(seat, kind);
            self.is_contradicted |= !known.meets(kind);
        }
        let hand = &mut self.possible[seat];
        for index in 0..MAX_HAND_SIZE - 1 {
            hand[index] = hand[index + usize::from(index >= slot)];
        }
        if before.deck_size() > 0 {
            hand[self.sizes[seat] - 1] = kinds::ALL - self.ruled_out;
        } else {
            self.sizes[seat] -= 1;
        }
    }

    /// A card is of one of these kinds.
    fn narrow(&mut self, seat: usize, slot: usize, kinds: CardSet) {
        let before = self.possible[seat][slot];
        let narrowed = before & kinds;
        self.possible[seat][slot] = narrowed;
        self.is_contradicted |= narrowed.is_empty();
        if narrowed != before && narrowed.single().is_some() {
            self.locate(seat, narrowed);
        }
    }

    /// A card of this kind is known to be in this hand, or left it.
    fn locate(&mut self, seat: usize, kind: CardSet) {
        self.located.add(kind);
        // A teammate's card was seen when it was drawn.
        if seat == self.observer {
            self.seen.add(kind);
        }
    }

    /// No card is of a kind whose copies are all located, unless it is one of them. What becomes
    /// known by that may exhaust more kinds.
    fn rule_out_exhausted(&mut self) {
        loop {
            let exhausted = self.located.exhausted();
            if exhausted == self.ruled_out {
                return;
            }
            let fresh = exhausted - self.ruled_out;
            self.ruled_out = exhausted;
            for seat in 0..self.players {
                for slot in 0..self.sizes[seat] {
                    let kinds = self.possible[seat][slot];
                    if kinds.meets(fresh) && kinds.single().is_none() {
                        self.narrow(seat, slot, kinds::ALL - fresh);
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

/// Whether some of these kinds are among the others, and some are not.
pub(super) fn is_mixed(kinds: CardSet, others: CardSet) -> bool {
    kinds.meets(others) && !kinds.is_subset(others)
}
