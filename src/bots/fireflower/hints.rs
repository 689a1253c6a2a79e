//! What a player makes of a hint: it asks for plays, or for cards to be kept.

use super::beliefs::{Group, Idea};
use super::board::{Board, Hand};
use super::cards::{Counts, SUITS, of_hint, of_rank};
use super::mind::{Mind, When};
use crate::rules::{Hint, SlotSet};

/// What was known before a hint was taken in.
#[derive(Clone, Copy)]
pub(super) struct Prior {
    /// Expected plays of the hinted hand.
    pub plays: SlotSet,
    /// All cards that are believed or known to be playable.
    pub promised: Group,
}

/// A hint that was given.
pub(super) struct Hinted {
    seat: usize,
    hand: Hand,
    hint: Hint,
    touched: SlotSet,
    /// The touched cards, the newest first.
    ids: Group,
}

impl Hinted {
    pub(super) fn new(board: &Board, seat: usize, hint: Hint, touched: SlotSet) -> Hinted {
        let hand = board.hands[seat];
        let newest_first = hand.newest_first();
        let ids = newest_first.filter(|&(slot, _)| touched.contains(slot)).map(|(_, id)| id);
        Hinted { seat, hand, hint, touched, ids: ids.collect() }
    }
}

impl Mind<'_> {
    /// What is known before a hint to this seat. The table was looked at.
    pub(super) fn prior(&self, board: &Board, seat: usize) -> Prior {
        let plays = self.common_plays(board, seat, When::Now);
        Prior { plays, promised: self.promised_plays(board) }
    }

    pub(super) fn on_hint(&mut self, board: &Board, hinted: &Hinted, prior: &Prior) {
        self.tell(&hinted.hand, of_hint(hinted.hint), hinted.touched);
        let (ids, prospects) = (&hinted.ids, &board.prospects);
        let possible = |id| self.memory.common.of(id);
        let can_be_played = |id| possible(id).meets(prospects.playable);
        let is_dead = |id| possible(id).is_subset(prospects.dead);
        if self.is_protecting(board, hinted, prior) {
            self.believe(Idea::Keep, ids);
        } else if ids.iter().any(can_be_played) {
            self.expect_plays(board, hinted, prior);
        } else if !ids.iter().any(is_dead) {
            self.finesse(board, hinted.seat, ids);
            let left = self.chain(board, ids, &prior.promised);
            self.believe(Idea::Keep, &left);
        } else if ids.iter().all(is_dead) {
            self.keep_older(hinted);
        }
    }

    /// Every card that is known to be playable, or believed to be some time.
    pub(super) fn promised_plays(&self, board: &Board) -> Group {
        let ids = board.all_hands().iter().flat_map(|hand| hand.newest_first());
        let is_known = |id: usize| {
            let possible = self.memory.common.of(id);
            possible.single().is_some() && possible.meets(board.prospects.playable)
        };
        ids.map(|(_, id)| id).filter(|&id| is_known(id) || self.belief(id).is_play()).collect()
    }

    /// The hinted cards are to be played: those that certainly can be first, then the others,
    /// the newest first.
    fn expect_plays(&mut self, board: &Board, hinted: &Hinted, prior: &Prior) {
        let playable = board.prospects.playable;
        let is_certain = |id: usize| self.memory.common.of(id).is_subset(playable);
        let mut plays = hinted.ids.filter(is_certain);
        let others = hinted.ids.filter(|id| !is_certain(id));
        for id in self.chain(board, &others, &prior.promised).iter() {
            plays.push(id);
        }
        self.believe(Idea::Play, &plays);
        self.finesse(board, hinted.seat, &hinted.ids);
    }

    /// Cards that can only be useful in the suit of a promised play come after it in its
    /// sequence. Returns the others.
    fn chain(&mut self, board: &Board, ids: &Group, promised: &Group) -> Group {
        ids.filter(|id| !self.follows(board, id, promised))
    }

    fn follows(&mut self, board: &Board, id: usize, promised: &Group) -> bool {
        let suit = self.useful_suit(board, id);
        let is_ahead = |other: &usize| *other != id && self.useful_suit(board, *other) == suit;
        let first = if suit.is_some() { promised.iter().find(is_ahead) } else { None };
        let Some(first) = first else { return false };
        let belief = self.belief(first);
        let mut sequence = if belief.is_play() {
            let same_suit = |other| other == first || self.useful_suit(board, other) == suit;
            self.group(belief).filter(same_suit)
        } else {
            Group::of(first)
        };
        sequence.push(id);
        self.believe(Idea::Play, &sequence);
        true
    }

    /// A hint at dead cards says to keep what is older than them.
    fn keep_older(&mut self, hinted: &Hinted) {
        let oldest = hinted.touched.0.trailing_zeros() as usize;
        let slots = (0..oldest.min(hinted.hand.size())).rev();
        let older = slots.map(|slot| hinted.hand.id(slot)).collect();
        self.believe(Idea::Keep, &older);
    }

    /// Whether the hint is about a card that must not be discarded, or not be played.
    fn is_protecting(&self, board: &Board, hinted: &Hinted, prior: &Prior) -> bool {
        let (slot, _) = self.common_discard(board, hinted.seat);
        let critical = board.prospects.critical;
        let possible = |slot| self.memory.common.of(hinted.hand.id(slot));
        let guards_discard = hinted.touched.contains(slot) && possible(slot).meets(critical);
        let warns = prior.plays.iter().any(|slot| possible(slot).is_subset(critical));
        let plays = prior.plays.0;
        (guards_discard || warns)
            && (plays == 0 || plays & hinted.touched.0 != 0)
            && !self.is_play_all_the_same(board, hinted, prior, guards_discard, warns, slot)
    }

    /// Whether the manner of a hint says that it is about plays although it touches the likely
    /// discard, or an expected play that is critical.
    fn is_play_all_the_same(
        &self,
        board: &Board,
        hinted: &Hinted,
        prior: &Prior,
        guards_discard: bool,
        warns: bool,
        discard: usize,
    ) -> bool {
        let says_something_new = hinted.touched.0 & !prior.plays.0 != 0;
        let was_safe = || {
            let id = hinted.hand.id(discard);
            guards_discard && !warns && self.was_left_unguarded(board, hinted.seat, id)
        };
        says_something_new
            && (was_safe()
                || match hinted.hint {
                    Hint::Rank(rank) => self.is_rank_hint_for_plays(board, hinted, rank.index()),
                    Hint::Color(_) => self.is_color_hint_for_plays(board, hinted),
                })
    }

    /// Whether the player before had the chance to guard this likely discard and did not, and
    /// nothing that it can be became critical since.
    fn was_left_unguarded(&self, board: &Board, seat: usize, id: usize) -> bool {
        let before = if seat == 0 { board.players - 1 } else { seat - 1 };
        let common = &self.memory.common;
        let critical = common.unseen().some() & board.prospects.critical & common.of(id);
        let pause = &self.past.pauses[before];
        !self.belief(id).is_any()
            && pause.was_idle
            && usize::from(pause.discard) == id
            && critical.is_subset(pause.critical)
    }

    fn is_rank_hint_for_plays(&self, board: &Board, hinted: &Hinted, rank: usize) -> bool {
        let prospects = &board.prospects;
        let possible = |id| self.memory.common.of(id);
        let can_be_played = |id| possible(id).meets(prospects.playable);
        let is_clear = |id| {
            can_be_played(id) || possible(id).is_subset(prospects.dead) || possible(id).len() == 1
        };
        if !hinted.ids.iter().all(is_clear) {
            return false;
        }
        let plays = hinted.ids.iter().filter(|&id| can_be_played(id)).count();
        let past = (board.played & of_rank(rank)).len();
        let reached = match rank.checked_sub(1) {
            Some(under) => (board.played & of_rank(under)).len(),
            None => SUITS,
        };
        let newest = hinted.ids.first();
        plays > SUITS - past
            || reached == SUITS
            || plays >= SUITS - reached && newest.is_some_and(|id| self.is_new(hinted.seat, id))
    }

    fn is_color_hint_for_plays(&self, board: &Board, hinted: &Hinted) -> bool {
        let hand = &hinted.hand;
        let newest = hand.size().saturating_sub(1);
        let is_kept = |slot| self.belief(hand.id(slot)).is_keep();
        if hinted.touched.contains(newest) && (0..newest).all(is_kept) {
            return true;
        }
        let prospects = &board.prospects;
        let threatened = prospects.critical - prospects.playable - Counts::DECK.one();
        let is_safe = |id| {
            let possible = self.memory.common.of(id);
            possible.len() == 1 || !possible.meets(threatened)
        };
        hinted.ids.first().is_some_and(|id| self.is_new(hinted.seat, id))
            && hinted.ids.iter().all(is_safe)
    }
}
