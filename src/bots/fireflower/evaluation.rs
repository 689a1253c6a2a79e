//! The value of a position for the team, as one player sees it: a function of the expected score.
//!
//! The constants are those of the original, which its author tuned by hand. Factors scale down the
//! number of plays that are still possible, each for one obstacle.

use super::forecast::{Forecast, HINT_WORTH};
use super::reasoner::{DiscardRating, Reasoner, When};
use super::seat_state::{MAX_SCORE, SeatState};
use crate::bots::common::base_game::{ALL, RANKS, SUITS, above, above_all, of_rank};
use crate::rules::{BitIndices, CardSet, SlotSet};

/// The cost of each point by which the game certainly misses the maximum score.
const MISSED_POINT: f64 = 3.0;

/// The value of an expected number of points. It grows exponentially, so averages favour the better
/// cases: a player should not avoid a discard because the next player might discard the same card.
fn value_of_points(points: f64) -> f64 {
    libm::exp(points / 2.5)
}

/// The softplus function.
fn soft_plus(x: f64, width: f64) -> f64 {
    if x / width >= 40.0 { 40.0 } else { libm::log(1.0 + libm::exp(x / width)) * width }
}

/// What is left to play.
struct RestOfGame {
    /// Turns in which a card could be played.
    turns: f64,
    /// Cards that could be played.
    plays: f64,
}

impl Reasoner<'_> {
    /// The value of a position with any player to act.
    pub(super) fn value(&self, state: &SeatState) -> f64 {
        let score = f64::from(state.score);
        let max_score = f64::from(MAX_SCORE);
        if state.is_over() {
            return value_of_points(score - MISSED_POINT * (max_score - score));
        }
        let rest = self.rest(state);
        let forecast = self.forecast(state);
        let factor = self.danger_factor(state)
            * turns_factor(&rest)
            * self.hints_factor(state, &rest, &forecast)
            * lives_factor(state)
            * self.space_factor(state, &forecast)
            * self.next_turn_factor(state)
            * self.few_hints_factor(state);
        let missed = max_score - score - rest.plays;
        value_of_points(score + rest.plays * factor - MISSED_POINT * missed)
    }

    fn rest(&self, state: &SeatState) -> RestOfGame {
        let dead = state.status.dead;
        let has_a_use = |&seat: &usize| {
            let mut ids = state.hands[seat].ids().iter();
            !ids.all(|&id| self.beliefs.own.of(id.into()).is_subset(dead))
        };
        let last_turns = state.last_turns.map_or(state.players, usize::from);
        let players = state.seats_in_turn().take(last_turns).filter(has_a_use).count();
        let turns = players + usize::from(if state.last_turns.is_some() { 0 } else { state.deck });
        let useful = (ALL - state.played - above_all(state.exhausted())).len();
        RestOfGame { turns: turns as f64, plays: useful.min(turns) as f64 }
    }

    /// Less than 1 for critical cards that are still in the deck, the lower the worse. The last two
    /// copies of a lowest rank count too, if both are.
    fn danger_factor(&self, state: &SeatState) -> f64 {
        let gap = |rank: usize| (RANKS - 1 - rank) as f64;
        let cost = |rank: usize| gap(rank) + 0.1 * gap(rank) * gap(rank);
        let unseen = self.beliefs.own.unseen();
        let last = state.status.critical & unseen.one();
        let last_two = state.hidden.two() & unseen.two() & (of_rank(0) - state.played);
        let mut danger = 0.0;
        for rank in 0..RANKS - 1 {
            for card in (of_rank(rank) & (last | last_two)).iter() {
                danger += if last.contains(card) { cost(rank) } else { cost(rank) * 0.6 };
            }
        }
        f64::max(0.0, 1.0 - danger / 200.0)
    }

    fn hints_factor(&self, state: &SeatState, rest: &RestOfGame, forecast: &Forecast) -> f64 {
        let score = f64::from(state.score);
        let play_worth = if state.players <= 2 { 0.20 } else { 0.1625 };
        let known = forecast.plays * play_worth;
        let (given, to_hint) = (score + known, rest.plays - known);
        let hints = self.hints_to_come(state) - self.mistakes(state) + forecast.knowledge;
        let net = hints * HINT_WORTH - to_hint - 3.0;
        let expected = if to_hint <= 0.0 {
            given
        } else {
            let raw = (rest.plays - soft_plus(-net, 2.5) + 3.0) / (rest.plays + 3.0);
            given + to_hint * f64::min(soft_plus(raw, 0.1), 1.0)
        };
        // Certain plays of this round weigh more than a fraction of the known plays.
        let round = score + forecast.round as f64;
        let expected =
            if expected < round { expected + 0.65 * (round - expected) } else { expected };
        if rest.plays == 0.0 {
            1.0
        } else {
            (f64::min(expected, score + rest.plays) - score) / rest.plays
        }
    }

    /// The available tokens, and those that discards and completed suits will return. The token of
    /// the last suit comes too late.
    fn hints_to_come(&self, state: &SeatState) -> f64 {
        let left = i32::from(state.max_discards) - i32::from(state.discarded);
        let hand = &state.hands[state.observer];
        let is_new = |back: usize| {
            let slot = hand.size().checked_sub(back);
            slot.is_some_and(|slot| self.is_new(state.observer, hand.id(slot)))
        };
        let some_hint = if is_new(2) {
            0.45
        } else if is_new(1) {
            0.30
        } else {
            0.10
        };
        let unfinished = SUITS - (state.played & of_rank(RANKS - 1)).len();
        f64::from(left + i32::from(state.tokens))
            + f64::from(state.unknown_hints) * some_hint
            + unfinished.saturating_sub(1) as f64
    }

    /// The hints needed to prevent misplays of visible cards. Critical cards need a hint anyway.
    fn mistakes(&self, state: &SeatState) -> f64 {
        let status = &state.status;
        let fine = status.playable | status.critical;
        let mut hints = 0.0;
        for id in BitIndices(self.beliefs.tops.first_plays & state.held() & !state.blind).rev() {
            if !state.face(id).intersects(fine)
                && self.beliefs.common.of(id).intersects(status.playable)
            {
                hints += 0.30 / HINT_WORTH;
            }
        }
        hints
    }

    /// Less than 1 for hands that are full of cards to be kept.
    fn space_factor(&self, state: &SeatState, forecast: &Forecast) -> f64 {
        const KNOTS: [f64; 6] = [0.66, 0.88, 0.96, 0.99, 1.00, 1.00];
        let distances = Distances::new(state);
        let useful = self.beliefs.tops.plays | self.beliefs.tops.kept;
        let mut factor = 1.0;
        for hand in state.all_hands() {
            let mut kept = 0.0;
            for id in BitIndices(hand.set & !forecast.soon).rev() {
                let possible = self.beliefs.own.of(id);
                let is_kept = if self.is_seen(id) {
                    !possible.intersects(state.status.playable)
                        && (possible.intersects(state.status.critical) || useful >> id & 1 == 1)
                } else {
                    self.is_kept_blindly(state, id, possible)
                };
                if is_kept {
                    kept += CLOGS[distances.farthest(possible)];
                }
            }
            let space = state.starting_hand as f64 - kept;
            let knot = (space as usize).min(KNOTS.len() - 2);
            factor *= KNOTS[knot] + (KNOTS[knot + 1] - KNOTS[knot]) * (space - knot as f64);
        }
        factor
    }

    /// Whether a card that the observer does not know occupies its slot for long.
    fn is_kept_blindly(&self, state: &SeatState, id: usize, possible: CardSet) -> bool {
        let status = &state.status;
        let tops = &self.beliefs.tops;
        !possible.is_subset(status.playable)
            && tops.plays >> id & 1 == 0
            && !possible.is_subset(status.dead)
            && (possible.is_subset(status.critical) || tops.kept >> id & 1 == 1)
    }

    /// Less than 1 if the next player is about to lose a critical card or the game and tokens are
    /// scarce.
    fn next_turn_factor(&self, state: &SeatState) -> f64 {
        let seat = state.current;
        if seat == state.observer || state.tokens > 1 {
            return 1.0;
        }
        let has_token = state.tokens > 0;
        let mut factor = 1.0;
        if state.discarded < state.max_discards {
            let (slot, discard) = self.common_discard(state, seat);
            let hand = &state.hands[seat];
            let own = self.beliefs.own.of_hand(hand);
            if discard >= DiscardRating::Plain
                && self.loses(state, seat, slot)
                && self.expected_plays(state, hand, &own, When::Now) == SlotSet(0)
            {
                factor = if has_token { 0.90 } else { 0.80 };
            }
        }
        let plays = self.common_plays(state, seat, When::Now);
        if self.has_disaster(state, seat, plays) {
            let loss = if has_token { 0.10 } else { 0.20 };
            factor *= 1.0 - loss / f64::from(plays.0.count_ones());
        }
        factor
    }

    /// Whether a discard from this slot loses a critical card without the owner's knowledge.
    fn loses(&self, state: &SeatState, seat: usize, slot: usize) -> bool {
        let id = state.hands[seat].id(slot);
        !self.belief(id).is_keep() && self.beliefs.own.of(id).is_subset(state.status.critical)
    }

    /// Whether one of these plays is a misplay that loses the game or a critical card.
    fn has_disaster(&self, state: &SeatState, seat: usize, plays: SlotSet) -> bool {
        let status = &state.status;
        plays.iter().any(|slot| {
            let possible = self.beliefs.own.of(state.hands[seat].id(slot.index()));
            !possible.intersects(status.playable)
                && (state.lives <= 1 || possible.is_subset(status.critical))
        })
    }

    /// Less than 1 if the player after the next is about to lose a critical card or the game, and
    /// the next has no token to help.
    fn few_hints_factor(&self, state: &SeatState) -> f64 {
        if state.tokens > 0 {
            return 1.0;
        }
        let seat = state.after(state.current);
        let (mut discard_factor, mut play_factor) = (1.0, 1.0);
        if seat != state.observer {
            let (slot, _) = self.common_discard(state, seat);
            if state.discarded < state.max_discards
                && self.loses(state, seat, slot)
                && self.common_plays(state, seat, When::Sometime) == SlotSet(0)
            {
                discard_factor = 0.85;
            }
            let plays = self.common_plays(state, seat, When::Now);
            if self.has_disaster(state, seat, plays) {
                play_factor = 1.0 - 0.15 / f64::from(plays.0.count_ones());
            }
        }
        if discard_factor < 1.0 || play_factor < 1.0 {
            discard_factor * play_factor
        } else if state.players == 3 {
            1.0
        } else {
            0.98
        }
    }
}

/// The fraction of a slot that a kept card occupies, by its distance from being playable.
const CLOGS: [f64; 8] = [0.80, 0.80, 0.88, 0.94, 0.97, 0.99, 1.00, 1.00];

/// The distance of each kind from its stack: the number of ranks in between, where critical ones
/// count twice. Bit-sliced: three bits for each kind, the lowest first. Played kinds have distance
/// 0.
struct Distances([CardSet; 3]);

impl Distances {
    fn new(state: &SeatState) -> Distances {
        let mut under = ALL - state.played;
        let mut critical = state.status.critical - state.played;
        let mut distances = Distances([CardSet::EMPTY; 3]);
        for _ in 1..RANKS {
            under = above(under);
            critical = above(critical);
            distances.add(under);
            distances.add(critical);
        }
        distances
    }

    /// Adds 1 for each of these kinds, saturating at 7.
    fn add(&mut self, cards: CardSet) {
        let mut carry = cards.0;
        for plane in &mut self.0 {
            (plane.0, carry) = (plane.0 ^ carry, plane.0 & carry);
        }
        for plane in &mut self.0 {
            plane.0 |= carry;
        }
    }

    /// The maximum distance of these kinds.
    fn farthest(&self, cards: CardSet) -> usize {
        let (mut farthest, mut left) = (0, cards);
        for (bit, &plane) in self.0.iter().enumerate().rev() {
            if left.intersects(plane) {
                left &= plane;
                farthest |= 1 << bit;
            }
        }
        farthest
    }
}

/// Less than 1 unless there are some more turns than plays.
fn turns_factor(rest: &RestOfGame) -> f64 {
    if rest.plays == 0.0 { 1.0 } else { f64::min(rest.plays, 0.8 * rest.turns) / rest.plays }
}

fn lives_factor(state: &SeatState) -> f64 {
    match state.lives {
        0 => 0.0,
        1 => 0.93,
        2 => 0.98,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{EpisodeSeed, Parameters, State, Variant};

    /// The definition of the distance, kind by kind.
    fn naive(state: &SeatState, card: usize) -> usize {
        let stack = card / RANKS * RANKS;
        let under = (stack..card).filter(|&under| !state.played.contains(under));
        under.map(|under| 1 + usize::from(state.status.critical.contains(under))).sum()
    }

    #[test]
    fn distances_follow_their_definition_up_to_seven() {
        let variant = Variant::new(Parameters::default()).unwrap();
        let state = State::new(variant, EpisodeSeed::default());
        let mut state = SeatState::new(&state.view(crate::rules::Seat::FIRST));
        state.played = CardSet::of(5) | CardSet::of(6) | CardSet::of(10);
        state.hidden.remove(of_rank(0) | of_rank(1) | CardSet::of(2) | CardSet::of(3));
        state.hidden.remove(of_rank(0));
        state.update_status();
        let distances = Distances::new(&state);
        for card in ALL.iter() {
            let expected = naive(&state, card).min(7);
            assert_eq!(distances.farthest(CardSet::of(card)), expected, "{card}");
        }
        assert_eq!(naive(&state, 4), 8);
        assert_eq!(distances.farthest(CardSet::of(9) | CardSet::of(6)), 2);
    }
}
