//! The choice of a move by a search over every sensible move and the next player's likely replies.

use super::hint_meaning::{BeforeHint, GivenHint};
use super::reasoner::{BeliefState, DiscardRating, Reasoner, When};
use super::seat_state::{MAX_TOKENS, SeatMove, SeatState};
use crate::bots::common::base_game::{HAND_SIZE, RANKS, SUITS};
use crate::rules::{CardSet, Hint, Rank, Slot, SlotSet, Suit};

/// The weight of the kind that a finesse gives, relative to the other possible kinds.
const FINESSE_WEIGHT: f64 = 100.0;

/// A weighted mean.
#[derive(Clone, Copy, Default)]
struct WeightedMean {
    sum: f64,
    weight: f64,
}

impl WeightedMean {
    fn add(&mut self, value: Option<f64>, weight: f64) {
        if let Some(value) = value {
            self.sum += value * weight;
            self.weight += weight;
        }
    }

    /// The mean; `None` without values.
    fn value(self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }
}

/// The best move so far; on ties the first.
struct BestMove {
    played: Option<SeatMove>,
    value: f64,
}

impl BestMove {
    fn offer(&mut self, played: SeatMove, value: Option<f64>) {
        if let Some(value) = value.filter(|&value| value > self.value) {
            *self = BestMove { played: Some(played), value };
        }
    }
}

/// The observer's knowledge of its own hand.
struct OwnHand {
    possible: [CardSet; HAND_SIZE],
    /// The expected plays, to the observer's knowledge.
    plays: SlotSet,
}

impl Reasoner<'_> {
    /// The best move of the observer, who is to act.
    pub(super) fn choose(&mut self, state: &SeatState) -> Option<SeatMove> {
        let hand = &state.hands[state.observer];
        let possible = self.beliefs.own.of_hand(hand);
        let plays = self.expected_plays(state, hand, &possible, When::Now);
        let own = OwnHand { possible, plays };
        let mut best = BestMove { played: None, value: -10_000.0 };
        self.try_plays(state, &own, &mut best);
        if state.tokens < MAX_TOKENS {
            self.try_discards(state, &own, &mut best);
        }
        if state.tokens > 0 {
            self.try_hints(state, &mut best);
        }
        best.played
    }

    fn try_plays(&mut self, state: &SeatState, own: &OwnHand, best: &mut BestMove) {
        let hand = &state.hands[state.observer];
        let playable = state.status.playable;
        for slot in newest_first(own.plays) {
            let finesse = self.belief(hand.id(slot)).finesse();
            let weight = |card| if finesse == Some(card) { FINESSE_WEIGHT } else { 1.0 };
            let played = SeatMove::Play { slot };
            let value = self.average(state, played, slot, own.possible[slot] & playable, weight);
            best.offer(played, value);
        }
        if own.plays != SlotSet(0) {
            return;
        }
        // As a last resort, the newest card that may be playable.
        let mut slots = (0..hand.size()).rev();
        if let Some(slot) = slots.find(|&slot| own.possible[slot].intersects(playable)) {
            let is_kept = self.belief(hand.id(slot)).is_keep();
            let weight = |card| match (playable.contains(card), is_kept) {
                (true, _) => 1.0,
                (false, _) if !state.status.critical.contains(card) => 100.0,
                (false, false) => 150.0,
                (false, true) => 200.0,
            };
            let played = SeatMove::Play { slot };
            let value = self.average(state, played, slot, own.possible[slot], weight);
            best.offer(played, value);
        }
    }

    fn try_discards(&mut self, state: &SeatState, own: &OwnHand, best: &mut BestMove) {
        let hand = &state.hands[state.observer];
        let status = state.status;
        let (likely, discard) = self.likely_discard(state, hand, &own.possible);
        let has_common_play = self.common_plays(state, state.observer, When::Now) != SlotSet(0);
        // The better the rating of the discard, the less likely are bad kinds.
        let weight = |card| {
            let is_critical = status.critical.contains(card);
            match discard {
                DiscardRating::Dead | DiscardRating::Junk | DiscardRating::Plain
                    if status.dead.contains(card) =>
                {
                    1.0
                }
                DiscardRating::Dead | DiscardRating::Junk if is_critical => 0.01,
                DiscardRating::Dead | DiscardRating::Junk => 0.1,
                DiscardRating::Plain if !is_critical => 0.7,
                // The others do not expect a discard from a player with an expected play.
                DiscardRating::Plain if has_common_play => 0.5,
                DiscardRating::Plain => 0.02,
                DiscardRating::Risky | DiscardRating::Fatal if is_critical => 2.0,
                DiscardRating::Risky | DiscardRating::Fatal => 1.0,
            }
        };
        let played = SeatMove::Discard { slot: likely };
        best.offer(played, self.average(state, played, likely, own.possible[likely], weight));
        for slot in newest_first(own.plays).filter(|&slot| slot != likely) {
            let played = SeatMove::Discard { slot };
            let cards = own.possible[slot] & status.playable;
            best.offer(played, self.average(state, played, slot, cards, |_| 1.0));
        }
    }

    fn try_hints(&mut self, state: &SeatState, best: &mut BestMove) {
        // The knowledge before a hint is the same for all hints.
        let mut beliefs = *self.beliefs;
        let mut reasoner = self.with(&mut beliefs);
        reasoner.update_knowledge(state);
        let mut before_hint =
            BeforeHint { plays: SlotSet(0), promised: reasoner.promised_plays(state) };
        let colors = Suit::ALL[..SUITS].iter().map(|&suit| Hint::Color(suit));
        let hints = colors.chain(Rank::ALL[..RANKS].iter().map(|&rank| Hint::Rank(rank)));
        for seat in state.seats_in_turn().skip(1) {
            before_hint.plays = reasoner.common_plays(state, seat, When::Now);
            for hint in hints.clone() {
                let touched = state.touched(seat, hint);
                if touched != SlotSet(0) {
                    let played = SeatMove::Hint { seat, hint, touched };
                    let given = GivenHint::new(state, seat, hint, touched);
                    best.offer(played, reasoner.attempt_hint(state, played, &given, &before_hint));
                }
            }
        }
    }

    /// The mean value of a move with the observer's card in this slot, over its possible kinds.
    fn average(
        &mut self,
        state: &SeatState,
        played: SeatMove,
        slot: usize,
        cards: CardSet,
        weight: impl Fn(usize) -> f64,
    ) -> Option<f64> {
        let id = state.hands[state.observer].id(slot);
        let mut mean = WeightedMean::default();
        for card in cards.iter() {
            mean.add(self.attempt(state, played, id, CardSet::of(card)), weight(card));
        }
        mean.value()
    }

    /// The value of a move with a card of the observer of this kind; `None` if that is
    /// inconsistent.
    fn attempt(
        &mut self,
        state: &SeatState,
        played: SeatMove,
        id: usize,
        card: CardSet,
    ) -> Option<f64> {
        let mut after = *state;
        after.show(id, card);
        after.apply(played);
        let mut beliefs = *self.beliefs;
        let mut reasoner = self.with(&mut beliefs);
        reasoner.react(played, state, &after);
        if reasoner.settle(state, &after) { reasoner.expect_reply(&after) } else { None }
    }

    /// The value of a hint.
    fn attempt_hint(
        &mut self,
        state: &SeatState,
        played: SeatMove,
        given: &GivenHint,
        before_hint: &BeforeHint,
    ) -> Option<f64> {
        let mut after = *state;
        after.apply(played);
        let mut beliefs = *self.beliefs;
        let mut reasoner = self.with(&mut beliefs);
        reasoner.on_hint(&after, given, before_hint);
        if reasoner.settle(state, &after) { reasoner.expect_reply(&after) } else { None }
    }

    /// The mean value over the next player's likely replies.
    fn expect_reply(&mut self, state: &SeatState) -> Option<f64> {
        let (replies, count) = self.likely_replies(state);
        let mut mean = WeightedMean::default();
        for &(reply, weight) in &replies[..count] {
            let mut after = *state;
            after.apply(reply);
            let mut beliefs = *self.beliefs;
            let mut reasoner = self.with(&mut beliefs);
            reasoner.react(reply, state, &after);
            if reasoner.settle(state, &after) {
                mean.add(Some(reasoner.value(&after)), weight);
            }
        }
        mean.value()
    }

    /// The same reasoner on a copy of the beliefs.
    fn with<'b>(&'b mut self, beliefs: &'b mut BeliefState) -> Reasoner<'b> {
        Reasoner { beliefs, past: self.past, archive: self.archive }
    }

    /// The likely replies of the next player and their weights, as far as the observer can tell.
    fn likely_replies(&self, state: &SeatState) -> ([(SeatMove, f64); HAND_SIZE], usize) {
        let hand = &state.hands[state.current];
        let possible = self.hand_seen_from(state, state.current);
        let plays = self.expected_plays(state, hand, &possible, When::Now);
        let mut replies = [(SeatMove::UnknownHint, 1.0); HAND_SIZE];
        if plays != SlotSet(0) {
            if self.is_stalling(state, plays) {
                return (replies, 1);
            }
            for (reply, slot) in replies.iter_mut().zip(newest_first(plays)) {
                reply.0 = SeatMove::Play { slot };
            }
            return (replies, plays.0.count_ones() as usize);
        }
        if state.tokens >= MAX_TOKENS {
            return (replies, 1);
        }
        let (slot, discard) = self.likely_discard(state, hand, &possible);
        let is_fatal = state.discarded >= state.max_discards || discard <= DiscardRating::Risky;
        match (is_fatal, state.tokens > 0) {
            (true, true) => (replies, 1),
            (true, false) => {
                replies[0].0 = SeatMove::Play { slot: self.desperate_play(state) };
                (replies, 1)
            }
            (false, false) => {
                replies[0].0 = SeatMove::Discard { slot };
                (replies, 1)
            }
            (false, true) => {
                replies[0] = (SeatMove::Discard { slot }, 0.80);
                replies[1] = (SeatMove::UnknownHint, 0.20);
                (replies, 2)
            }
        }
    }

    /// Whether the next player will hint rather than draw: no discard is affordable and only dead
    /// cards are left in the deck.
    fn is_stalling(&self, state: &SeatState, plays: SlotSet) -> bool {
        state.discarded == state.max_discards
            && state.tokens > 0
            && plays.0.count_ones() <= 1
            && state.deck > 0
            && self.common_knowledge(state).unseen().some().is_subset(state.status.dead)
    }

    /// The newest slot of the next player that may be playable.
    fn desperate_play(&self, state: &SeatState) -> usize {
        let hand = &state.hands[state.current];
        let possible = self.common_knowledge(state).of_hand(hand);
        let newest = hand.size().saturating_sub(1);
        let mut slots = (0..hand.size()).rev();
        slots.find(|&slot| possible[slot].intersects(state.status.playable)).unwrap_or(newest)
    }
}

/// The slots of a set, the newest first.
fn newest_first(slots: SlotSet) -> impl Iterator<Item = usize> {
    (0..HAND_SIZE).rev().filter(move |&slot| slots.contains(Slot::at(slot)))
}
