//! How good a position is for the table, as one player sees it: about the score to be expected.
//!
//! The numbers are the original's, which its author tuned by hand. Factors scale down the plays
//! that are still possible, each for one thing that stands in their way.

use super::board::{Board, MAX_SCORE, Newest};
use super::cards::{RANKS, SUITS, above, above_all, of_all, of_rank};
use super::mind::{Discard, Mind, When};
use super::prospects::Foreseen;
use crate::rules::{CardSet, SlotSet};

/// What each point costs by which the maximum is missed for certain.
const MISSED_POINT: f64 = 3.0;
/// Hints per play that a table needs about.
pub(super) const HINT_WORTH: f64 = 0.85;

/// From expected points to worth. As worth grows exponentially, averages lean to the better
/// cases: a player is not to fear a discard because the next one might discard the same card.
fn worth(points: f64) -> f64 {
    libm::exp(points / 2.5)
}

/// Grows smoothly from 0 to a straight line.
fn soft_plus(x: f64, width: f64) -> f64 {
    if x / width >= 40.0 { 40.0 } else { libm::log(1.0 + libm::exp(x / width)) * width }
}

/// What is left to be played.
struct Rest {
    /// Turns in which a card could be played.
    turns: f64,
    /// Cards that could be played.
    plays: f64,
}

impl Mind<'_> {
    /// The worth of a position. The player to act may be any.
    pub(super) fn value(&self, board: &Board) -> f64 {
        let score = f64::from(board.score);
        let max_score = f64::from(MAX_SCORE);
        if board.is_over() {
            return worth(score - MISSED_POINT * (max_score - score));
        }
        let rest = self.rest(board);
        let foreseen = self.foresee(board);
        let factor = self.danger_factor(board)
            * turns_factor(&rest)
            * self.hints_factor(board, &rest, &foreseen)
            * lives_factor(board)
            * self.space_factor(board, &foreseen)
            * self.next_turn_factor(board)
            * self.few_hints_factor(board);
        let missed = max_score - score - rest.plays;
        worth(score + rest.plays * factor - MISSED_POINT * missed)
    }

    fn rest(&self, board: &Board) -> Rest {
        let dead = board.prospects.dead;
        let has_a_use = |&seat: &usize| {
            let mut ids = board.hands[seat].ids().iter();
            !ids.all(|&id| self.memory.own.of(id.into()).is_subset(dead))
        };
        let last_turns = board.last_turns.map_or(board.players, usize::from);
        let players = board.seats_in_turn().take(last_turns).filter(has_a_use).count();
        let turns = players + usize::from(if board.last_turns.is_some() { 0 } else { board.deck });
        let useful = (of_all() - board.played - above_all(board.exhausted())).len();
        Rest { turns: turns as f64, plays: useful.min(turns) as f64 }
    }

    /// Critical cards that nobody holds yet, the lower the worse; two of three copies too.
    fn danger_factor(&self, board: &Board) -> f64 {
        let gap = |rank: usize| (RANKS - 1 - rank) as f64;
        let cost = |rank: usize| gap(rank) + 0.1 * gap(rank) * gap(rank);
        let unseen = self.memory.own.unseen();
        let last = board.prospects.critical & unseen.one();
        let last_two = board.hidden.two() & unseen.two() & (of_rank(0) - board.played);
        let mut danger = 0.0;
        for rank in 0..RANKS - 1 {
            for card in (of_rank(rank) & (last | last_two)).iter() {
                danger += if last.contains(card) { cost(rank) } else { cost(rank) * 0.6 };
            }
        }
        f64::max(0.0, 1.0 - danger / 200.0)
    }

    fn hints_factor(&self, board: &Board, rest: &Rest, foreseen: &Foreseen) -> f64 {
        let score = f64::from(board.score);
        let play_worth = if board.players <= 2 { 0.20 } else { 0.1625 };
        let known = foreseen.plays * play_worth;
        let (hinted, to_hint) = (score + known, rest.plays - known);
        let hints = self.hints_to_come(board) - self.mistakes(board) + foreseen.knowledge;
        let net = hints * HINT_WORTH - to_hint - 3.0;
        let expected = if to_hint <= 0.0 {
            hinted
        } else {
            let raw = (rest.plays - soft_plus(-net, 2.5) + 3.0) / (rest.plays + 3.0);
            hinted + to_hint * f64::min(soft_plus(raw, 0.1), 1.0)
        };
        // What this round can play for certain counts more than a share of known plays.
        let round = score + foreseen.round as f64;
        let expected =
            if expected < round { expected + 0.65 * (round - expected) } else { expected };
        if rest.plays == 0.0 {
            1.0
        } else {
            (f64::min(expected, score + rest.plays) - score) / rest.plays
        }
    }

    /// Tokens, and those that discards and highest ranks bring. The last suit's comes too late.
    fn hints_to_come(&self, board: &Board) -> f64 {
        let left = i32::from(board.max_discards) - i32::from(board.discarded);
        let hand = &board.hands[board.observer];
        let is_new = |back: usize| {
            let slot = hand.size().checked_sub(back);
            slot.is_some_and(|slot| self.is_new(board.observer, hand.id(slot)))
        };
        let some_hint = if is_new(2) {
            0.45
        } else if is_new(1) {
            0.30
        } else {
            0.10
        };
        let unfinished = SUITS - (board.played & of_rank(RANKS - 1)).len();
        f64::from(left + i32::from(board.tokens))
            + f64::from(board.some_hints) * some_hint
            + unfinished.saturating_sub(1) as f64
    }

    /// Hints that it takes to stop visible cards from being played wrongly. Critical ones need a
    /// hint anyway.
    fn mistakes(&self, board: &Board) -> f64 {
        let prospects = &board.prospects;
        let fine = prospects.playable | prospects.critical;
        let mut hints = 0.0;
        for id in Newest(self.memory.tops.first_plays & board.held() & !board.blind) {
            if !board.face(id).meets(fine) && self.memory.common.of(id).meets(prospects.playable) {
                hints += 0.30 / HINT_WORTH;
            }
        }
        hints
    }

    /// Hands full of cards that have to be kept.
    fn space_factor(&self, board: &Board, foreseen: &Foreseen) -> f64 {
        const KNOTS: [f64; 6] = [0.66, 0.88, 0.96, 0.99, 1.00, 1.00];
        let distances = Distances::new(board);
        let useful = self.memory.tops.plays | self.memory.tops.kept;
        let mut factor = 1.0;
        for hand in board.all_hands() {
            let mut kept = 0.0;
            for id in Newest(hand.set & !foreseen.soon) {
                let possible = self.memory.own.of(id);
                let is_kept = if self.is_seen(id) {
                    !possible.meets(board.prospects.playable)
                        && (possible.meets(board.prospects.critical) || useful >> id & 1 == 1)
                } else {
                    self.is_kept_blindly(board, id, possible)
                };
                if is_kept {
                    kept += CLOGS[distances.farthest(possible)];
                }
            }
            let space = board.starting_hand as f64 - kept;
            let knot = (space as usize).min(KNOTS.len() - 2);
            factor *= KNOTS[knot] + (KNOTS[knot + 1] - KNOTS[knot]) * (space - knot as f64);
        }
        factor
    }

    /// Whether a card takes up its slot although nobody knows what it is.
    fn is_kept_blindly(&self, board: &Board, id: usize, possible: CardSet) -> bool {
        let prospects = &board.prospects;
        let tops = &self.memory.tops;
        !possible.is_subset(prospects.playable)
            && tops.plays >> id & 1 == 0
            && !possible.is_subset(prospects.dead)
            && (possible.is_subset(prospects.critical) || tops.kept >> id & 1 == 1)
    }

    /// Whether the next player is about to lose a card or the game, when tokens are scarce.
    fn next_turn_factor(&self, board: &Board) -> f64 {
        let seat = board.current;
        if seat == board.observer || board.tokens > 1 {
            return 1.0;
        }
        let has_token = board.tokens > 0;
        let mut factor = 1.0;
        if board.discarded < board.max_discards {
            let (slot, discard) = self.common_discard(board, seat);
            let hand = &board.hands[seat];
            let own = self.memory.own.of_hand(hand);
            if discard >= Discard::Plain
                && self.loses(board, seat, slot)
                && self.expected_plays(board, hand, &own, When::Now) == SlotSet(0)
            {
                factor = if has_token { 0.90 } else { 0.80 };
            }
        }
        let plays = self.common_plays(board, seat, When::Now);
        if self.has_disaster(board, seat, plays) {
            let loss = if has_token { 0.10 } else { 0.20 };
            factor *= 1.0 - loss / f64::from(plays.0.count_ones());
        }
        factor
    }

    /// Whether a discard from this slot is critical, and nothing tells its owner.
    fn loses(&self, board: &Board, seat: usize, slot: usize) -> bool {
        let id = board.hands[seat].id(slot);
        !self.belief(id).is_keep() && self.memory.own.of(id).is_subset(board.prospects.critical)
    }

    /// Whether one of these plays is a misplay that loses the game or a critical card.
    fn has_disaster(&self, board: &Board, seat: usize, plays: SlotSet) -> bool {
        let prospects = &board.prospects;
        plays.iter().any(|slot| {
            let possible = self.memory.own.of(board.hands[seat].id(slot));
            !possible.meets(prospects.playable)
                && (board.lives <= 1 || possible.is_subset(prospects.critical))
        })
    }

    /// Whether the player after the next is in danger, and the next has no token to help.
    fn few_hints_factor(&self, board: &Board) -> f64 {
        if board.tokens > 0 {
            return 1.0;
        }
        let seat = board.after(board.current);
        let (mut discard_factor, mut play_factor) = (1.0, 1.0);
        if seat != board.observer {
            let (slot, _) = self.common_discard(board, seat);
            if board.discarded < board.max_discards
                && self.loses(board, seat, slot)
                && self.common_plays(board, seat, When::Sometime) == SlotSet(0)
            {
                discard_factor = 0.85;
            }
            let plays = self.common_plays(board, seat, When::Now);
            if self.has_disaster(board, seat, plays) {
                play_factor = 1.0 - 0.15 / f64::from(plays.0.count_ones());
            }
        }
        if discard_factor < 1.0 || play_factor < 1.0 {
            discard_factor * play_factor
        } else if board.players == 3 {
            1.0
        } else {
            0.98
        }
    }
}

/// How much of its slot a card takes up, by its distance: the nearer to its play, the less.
const CLOGS: [f64; 8] = [0.80, 0.80, 0.88, 0.94, 0.97, 0.99, 1.00, 1.00];

/// How far each kind is from its stack: the ranks between them, those that are critical twice.
/// A number of three bits for each kind, the lowest bit first. What is played is not far at all.
struct Distances([CardSet; 3]);

impl Distances {
    fn new(board: &Board) -> Distances {
        let mut under = of_all() - board.played;
        let mut critical = board.prospects.critical - board.played;
        let mut distances = Distances([CardSet::EMPTY; 3]);
        for _ in 1..RANKS {
            under = above(under);
            critical = above(critical);
            distances.add(under);
            distances.add(critical);
        }
        distances
    }

    /// One more for each of these kinds, up to 7, beyond which nothing is told apart.
    fn add(&mut self, cards: CardSet) {
        let mut carry = cards.0;
        for plane in &mut self.0 {
            (plane.0, carry) = (plane.0 ^ carry, plane.0 & carry);
        }
        for plane in &mut self.0 {
            plane.0 |= carry;
        }
    }

    /// The most of these kinds.
    fn farthest(&self, cards: CardSet) -> usize {
        let (mut farthest, mut left) = (0, cards);
        for (bit, &plane) in self.0.iter().enumerate().rev() {
            if left.meets(plane) {
                left &= plane;
                farthest |= 1 << bit;
            }
        }
        farthest
    }
}

/// A few turns more than plays make for comfort.
fn turns_factor(rest: &Rest) -> f64 {
    if rest.plays == 0.0 { 1.0 } else { f64::min(rest.plays, 0.8 * rest.turns) / rest.plays }
}

fn lives_factor(board: &Board) -> f64 {
    match board.lives {
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

    /// Ranks between the card and its stack, those that are critical twice, card by card.
    fn naive(board: &Board, card: usize) -> usize {
        let stack = card / RANKS * RANKS;
        let under = (stack..card).filter(|&under| !board.played.contains(under));
        under.map(|under| 1 + usize::from(board.prospects.critical.contains(under))).sum()
    }

    #[test]
    fn distances_are_what_they_say_up_to_seven() {
        let variant = Variant::new(Parameters::default()).unwrap();
        let state = State::new(variant.into(), EpisodeSeed::default());
        let mut board = Board::new(&state.view(0));
        board.played = CardSet::of(5) | CardSet::of(6) | CardSet::of(10);
        board.hidden.take(of_rank(0) | of_rank(1) | CardSet::of(2) | CardSet::of(3));
        board.hidden.take(of_rank(0));
        board.look_ahead();
        let distances = Distances::new(&board);
        for card in of_all().iter() {
            let expected = naive(&board, card).min(7);
            assert_eq!(distances.farthest(CardSet::of(card)), expected, "{card}");
        }
        assert_eq!(naive(&board, 4), 8);
        assert_eq!(distances.farthest(CardSet::of(9) | CardSet::of(6)), 2);
    }
}
