//! Which cards will probably be played soon, to the best of one player's knowledge.

use super::board::{Board, Newest};
use super::cards::{RANKS, SUITS, common_suit, next_on, of_suit};
use super::mind::Mind;
use super::value::HINT_WORTH;
use crate::rules::CardSet;

/// What hints still to be given can build on.
pub(super) struct Foreseen {
    /// Cards that are believed to be playable rightly, as a set.
    pub soon: u64,
    /// How many different ones.
    pub plays: f64,
    /// Hints that are saved by what is known.
    pub knowledge: f64,
    /// Cards that can be played in the coming round.
    pub round: usize,
}

/// Hints that are saved by what is known of a card, by the number of kinds that it can be.
const KNOWING: [f64; SUITS * RANKS + 1] = {
    let mut knowing = [0.02 / HINT_WORTH; SUITS * RANKS + 1];
    let mut kinds = 2;
    while kinds < knowing.len() {
        knowing[kinds] = 0.01 / kinds as f64;
        kinds += 1;
    }
    knowing
};

impl Mind<'_> {
    /// Looks at all hands, in the order in which their turns come.
    pub(super) fn foresee(&self, board: &Board) -> Foreseen {
        let soon = self.all_playable_soon(board);
        let mut foreseen = Foreseen { soon, plays: 0.0, knowledge: 0.0, round: 0 };
        let turns = board.last_turns.map_or(board.players, usize::from);
        let mut counted = CardSet::EMPTY;
        let mut played = board.played;
        for seat in board.seats_in_turn().take(turns) {
            let now = self.foresee_hand(board, seat, &mut counted, &mut foreseen);
            let plays = now & next_on(played);
            foreseen.round += usize::from(!plays.is_empty());
            played |= plays;
        }
        foreseen
    }

    /// Adds a hand, and returns the kinds that it can be foreseen to play. A kind that two
    /// players hold counts once.
    fn foresee_hand(
        &self,
        board: &Board,
        seat: usize,
        counted: &mut CardSet,
        foreseen: &mut Foreseen,
    ) -> CardSet {
        let prospects = &board.prospects;
        let mut kinds = CardSet::EMPTY;
        let unhinted = self.memory.common.unseen().some();
        let unhinted_worth = KNOWING[unhinted.len()];
        let mut knowledge = foreseen.knowledge;
        for id in Newest(board.hands[seat].set) {
            if foreseen.soon >> id & 1 == 1 {
                let useful = self.memory.own.of(id) - prospects.dead;
                let card = if useful.single().is_some() { useful } else { CardSet::EMPTY };
                if !card.meets(*counted) {
                    *counted |= card;
                    kinds |= card;
                    knowledge += 0.45 / HINT_WORTH;
                    foreseen.plays += 1.0;
                }
            } else if self.memory.tops.kept >> id & 1 == 1 {
                knowledge += self.worth_of_keeping(board, seat, id);
            }
            let possible = self.memory.common.of(id);
            knowledge +=
                if possible == unhinted { unhinted_worth } else { KNOWING[possible.len()] };
        }
        foreseen.knowledge = knowledge;
        kinds
    }

    /// Hints that are saved by a card that is kept.
    fn worth_of_keeping(&self, board: &Board, seat: usize, id: usize) -> f64 {
        let face = board.face(id);
        if face.meets(board.prospects.critical) {
            // At the old end of the hand it could not have waited.
            let is_oldest = board.hands[seat].id(0) == id;
            if is_oldest && board.players != 3 { 0.35 / HINT_WORTH } else { 0.20 / HINT_WORTH }
        } else if face.meets(board.prospects.playable) {
            0.10 / HINT_WORTH
        } else {
            0.0
        }
    }

    fn all_playable_soon(&self, board: &Board) -> u64 {
        let believed = Newest(self.memory.tops.plays & board.held());
        let soon = believed.filter(|&id| self.is_playable_soon(board, id));
        soon.fold(0, |set, id| set | 1 << id)
    }

    /// Whether a card that is believed to be playable is so, once the ones before it in its
    /// sequence are played. Wrong ones before it do not matter at small tables: a hint can set
    /// them right.
    fn is_playable_soon(&self, board: &Board, id: usize) -> bool {
        let belief = self.belief(id);
        let playable = board.prospects.playable;
        if belief.place == 0 {
            return match self.supposed(board, id).single() {
                Some(card) => playable.contains(card),
                None => board.players <= 3 && self.memory.own.of(id).is_subset(playable),
            };
        }
        let mut played = board.played;
        let mut is_played = false;
        for other in self.group(belief).iter().take(usize::from(belief.place) + 1) {
            let card = self.supposed(board, other);
            is_played = card.meets(next_on(played));
            let is_past = card.meets(played);
            if card.is_empty() || !is_played && !is_past && board.players > 3 {
                return false;
            }
            if is_played {
                played |= card;
            }
        }
        is_played
    }

    /// The only kind that a card can be if the beliefs about it are right; nothing if that is
    /// open.
    fn supposed(&self, board: &Board, id: usize) -> CardSet {
        let possible = self.memory.own.of(id);
        let belief = self.belief(id);
        let only = |cards: CardSet| cards.single().map_or(CardSet::EMPTY, CardSet::of);
        if possible.single().is_some() || !belief.is_play() {
            only(possible)
        } else if belief.place == 0 {
            only(possible & board.prospects.playable)
        } else if board.players == 2 {
            self.supposed_in_suit(board, id, belief.place.into())
        } else {
            CardSet::EMPTY
        }
    }

    /// The kind of a card that is known to be of a suit, with so many cards to be played before
    /// it.
    fn supposed_in_suit(&self, board: &Board, id: usize, before: usize) -> CardSet {
        let possible = self.memory.own.of(id);
        let useful = possible - board.prospects.dead;
        let Some(suit) = common_suit(useful) else { return CardSet::EMPTY };
        let cards = of_suit(suit);
        let mut next = next_on(board.played) & cards;
        for _ in 0..before.min(RANKS) {
            if next.meets(possible) {
                next = CardSet(next.0 << 1) & cards;
            }
        }
        next & useful
    }
}
