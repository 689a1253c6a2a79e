//! A forecast of the cards that will be played soon, to one player's knowledge.

use super::reasoner::Reasoner;
use super::seat_state::SeatState;
use crate::bots::common::base_game::{RANKS, SUITS, common_suit, next_on, of_suit};
use crate::rules::{BitIndices, CardSet};

/// The number of hints that the team needs for each play.
pub(super) const HINT_WORTH: f64 = 0.85;

/// The plays to come without further hints, and the worth of what is known.
pub(super) struct Forecast {
    /// Cards with a play belief that is true, as a bit set.
    pub soon: u64,
    /// The number of different kinds among them.
    pub plays: f64,
    /// The number of hints that the present knowledge saves.
    pub knowledge: f64,
    /// The number of cards that can be played in the coming round.
    pub round: usize,
}

/// The number of hints saved by the knowledge about a card, by its number of possible kinds.
const KNOWING: [f64; SUITS * RANKS + 1] = {
    let mut knowing = [0.02 / HINT_WORTH; SUITS * RANKS + 1];
    let mut kinds = 2;
    while kinds < knowing.len() {
        knowing[kinds] = 0.01 / kinds as f64;
        kinds += 1;
    }
    knowing
};

impl Reasoner<'_> {
    /// The forecast over all hands, in the order of their turns.
    pub(super) fn forecast(&self, state: &SeatState) -> Forecast {
        let soon = self.all_playable_soon(state);
        let mut forecast = Forecast { soon, plays: 0.0, knowledge: 0.0, round: 0 };
        let turns = state.last_turns.map_or(state.players, usize::from);
        let mut counted = CardSet::EMPTY;
        let mut played = state.played;
        for seat in state.seats_in_turn().take(turns) {
            let now = self.forecast_hand(state, seat, &mut counted, &mut forecast);
            let plays = now & next_on(played);
            forecast.round += usize::from(!plays.is_empty());
            played |= plays;
        }
        forecast
    }

    /// Adds a hand to the forecast. Returns the kinds that it will play. A kind in two hands counts
    /// once.
    fn forecast_hand(
        &self,
        state: &SeatState,
        seat: usize,
        counted: &mut CardSet,
        forecast: &mut Forecast,
    ) -> CardSet {
        let status = &state.status;
        let mut kinds = CardSet::EMPTY;
        let unhinted = self.beliefs.common.unseen().some();
        let unhinted_worth = KNOWING[unhinted.len()];
        let mut knowledge = forecast.knowledge;
        for id in BitIndices(state.hands[seat].set).rev() {
            if forecast.soon >> id & 1 == 1 {
                let useful = self.beliefs.own.of(id) - status.dead;
                let card = if useful.single().is_some() { useful } else { CardSet::EMPTY };
                if !card.intersects(*counted) {
                    *counted |= card;
                    kinds |= card;
                    knowledge += 0.45 / HINT_WORTH;
                    forecast.plays += 1.0;
                }
            } else if self.beliefs.tops.kept >> id & 1 == 1 {
                knowledge += self.worth_of_keeping(state, seat, id);
            }
            let possible = self.beliefs.common.of(id);
            knowledge +=
                if possible == unhinted { unhinted_worth } else { KNOWING[possible.len()] };
        }
        forecast.knowledge = knowledge;
        kinds
    }

    /// The number of hints saved by a keep belief about a card.
    fn worth_of_keeping(&self, state: &SeatState, seat: usize, id: usize) -> f64 {
        let face = state.face(id);
        if face.intersects(state.status.critical) {
            // The oldest card would otherwise be the next discard.
            let is_oldest = state.hands[seat].id(0) == id;
            if is_oldest && state.players != 3 { 0.35 / HINT_WORTH } else { 0.20 / HINT_WORTH }
        } else if face.intersects(state.status.playable) {
            0.10 / HINT_WORTH
        } else {
            0.0
        }
    }

    fn all_playable_soon(&self, state: &SeatState) -> u64 {
        let believed = BitIndices(self.beliefs.tops.plays & state.held()).rev();
        let soon = believed.filter(|&id| self.is_playable_soon(state, id));
        soon.fold(0, |set, id| set | 1 << id)
    }

    /// Whether a card with a play belief is playable once the cards before it in its sequence are
    /// played. With up to three players, wrong cards before it do not matter, since a hint can
    /// correct them.
    fn is_playable_soon(&self, state: &SeatState, id: usize) -> bool {
        let belief = self.belief(id);
        let playable = state.status.playable;
        if belief.place == 0 {
            return match self.supposed(state, id).single() {
                Some(card) => playable.contains(card),
                None => state.players <= 3 && self.beliefs.own.of(id).is_subset(playable),
            };
        }
        let mut played = state.played;
        let mut is_played = false;
        for other in self.group(belief).iter().take(usize::from(belief.place) + 1) {
            let card = self.supposed(state, other);
            is_played = card.intersects(next_on(played));
            let is_past = card.intersects(played);
            if card.is_empty() || !is_played && !is_past && state.players > 3 {
                return false;
            }
            if is_played {
                played |= card;
            }
        }
        is_played
    }

    /// The kind of a card, as a set, if its beliefs are true; empty if several remain possible.
    fn supposed(&self, state: &SeatState, id: usize) -> CardSet {
        let possible = self.beliefs.own.of(id);
        let belief = self.belief(id);
        let only = |cards: CardSet| cards.single().map_or(CardSet::EMPTY, CardSet::of);
        if possible.single().is_some() || !belief.is_play() {
            only(possible)
        } else if belief.place == 0 {
            only(possible & state.status.playable)
        } else if state.players == 2 {
            self.supposed_in_suit(state, id, belief.place.into())
        } else {
            CardSet::EMPTY
        }
    }

    /// The kind of a card of known suit, with this number of cards to be played before it.
    fn supposed_in_suit(&self, state: &SeatState, id: usize, before: usize) -> CardSet {
        let possible = self.beliefs.own.of(id);
        let useful = possible - state.status.dead;
        let Some(suit) = common_suit(useful) else { return CardSet::EMPTY };
        let cards = of_suit(suit);
        let mut next = next_on(state.played) & cards;
        for _ in 0..before.min(RANKS) {
            if next.intersects(possible) {
                next = CardSet(next.0 << 1) & cards;
            }
        }
        next & useful
    }
}
