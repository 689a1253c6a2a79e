//! The choice of a move: every sensible one is tried, then what the next player will probably do.

use super::board::{Board, Deed, HAND_SIZE, MAX_TOKENS};
use super::cards::{RANKS, SUITS};
use super::hints::{Hinted, Prior};
use super::mind::{Discard, Memory, Mind, When};
use crate::rules::{CardSet, Hint, Rank, SlotSet, Suit};

/// How much more likely a finessed card is to be what the finesse says.
const FINESSE_WEIGHT: f64 = 100.0;

/// The mean of values with weights.
#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    weight: f64,
}

impl Mean {
    fn add(&mut self, value: Option<f64>, weight: f64) {
        if let Some(value) = value {
            self.sum += value * weight;
            self.weight += weight;
        }
    }

    /// The mean; nothing if it is one of nothing.
    fn value(self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }
}

/// The best deed so far. Of equal ones, the first.
struct Best {
    deed: Option<Deed>,
    value: f64,
}

impl Best {
    fn offer(&mut self, deed: Deed, value: Option<f64>) {
        if let Some(value) = value.filter(|&value| value > self.value) {
            *self = Best { deed: Some(deed), value };
        }
    }
}

/// What the observer's own hand can be.
struct OwnHand {
    possible: [CardSet; HAND_SIZE],
    /// Expected plays to the observer's knowledge.
    plays: SlotSet,
}

impl Mind<'_> {
    /// The best deed of the observer, whose turn it is.
    pub(super) fn choose(&mut self, board: &Board) -> Option<Deed> {
        let hand = &board.hands[board.observer];
        let possible = self.memory.own.of_hand(hand);
        let plays = self.expected_plays(board, hand, &possible, When::Now);
        let own = OwnHand { possible, plays };
        let mut best = Best { deed: None, value: -10_000.0 };
        self.try_plays(board, &own, &mut best);
        if board.tokens < MAX_TOKENS {
            self.try_discards(board, &own, &mut best);
        }
        if board.tokens > 0 {
            self.try_hints(board, &mut best);
        }
        best.deed
    }

    fn try_plays(&mut self, board: &Board, own: &OwnHand, best: &mut Best) {
        let hand = &board.hands[board.observer];
        let playable = board.prospects.playable;
        for slot in newest_first(own.plays) {
            let finesse = self.belief(hand.id(slot)).finesse();
            let weight = |card| if finesse == Some(card) { FINESSE_WEIGHT } else { 1.0 };
            let deed = Deed::Play { slot };
            let value = self.average(board, deed, slot, own.possible[slot] & playable, weight);
            best.offer(deed, value);
        }
        if own.plays != SlotSet(0) {
            return;
        }
        // As a last resort, the newest card that could be playable.
        let mut slots = (0..hand.size()).rev();
        if let Some(slot) = slots.find(|&slot| own.possible[slot].meets(playable)) {
            let is_kept = self.belief(hand.id(slot)).is_keep();
            let weight = |card| match (playable.contains(card), is_kept) {
                (true, _) => 1.0,
                (false, _) if !board.prospects.critical.contains(card) => 100.0,
                (false, false) => 150.0,
                (false, true) => 200.0,
            };
            let deed = Deed::Play { slot };
            let value = self.average(board, deed, slot, own.possible[slot], weight);
            best.offer(deed, value);
        }
    }

    fn try_discards(&mut self, board: &Board, own: &OwnHand, best: &mut Best) {
        let hand = &board.hands[board.observer];
        let prospects = board.prospects;
        let (likely, discard) = self.likely_discard(board, hand, &own.possible);
        let has_common_play = self.common_plays(board, board.observer, When::Now) != SlotSet(0);
        // The better the discard, the less likely it is to be something bad.
        let weight = |card| {
            let is_critical = prospects.critical.contains(card);
            match discard {
                Discard::Dead | Discard::Junk | Discard::Plain if prospects.dead.contains(card) => {
                    1.0
                }
                Discard::Dead | Discard::Junk if is_critical => 0.01,
                Discard::Dead | Discard::Junk => 0.1,
                Discard::Plain if !is_critical => 0.7,
                // The others do not expect a discard from a player who has a play.
                Discard::Plain if has_common_play => 0.5,
                Discard::Plain => 0.02,
                Discard::Risky | Discard::Fatal if is_critical => 2.0,
                Discard::Risky | Discard::Fatal => 1.0,
            }
        };
        let deed = Deed::Discard { slot: likely };
        best.offer(deed, self.average(board, deed, likely, own.possible[likely], weight));
        for slot in newest_first(own.plays).filter(|&slot| slot != likely) {
            let deed = Deed::Discard { slot };
            let cards = own.possible[slot] & prospects.playable;
            best.offer(deed, self.average(board, deed, slot, cards, |_| 1.0));
        }
    }

    fn try_hints(&mut self, board: &Board, best: &mut Best) {
        // The table looks the same after each hint, until the hint is taken in.
        let mut memory = *self.memory;
        let mut looking = self.with(&mut memory);
        looking.look(board);
        let mut prior = Prior { plays: SlotSet(0), promised: looking.promised_plays(board) };
        let colors = Suit::ALL[..SUITS].iter().map(|&suit| Hint::Color(suit));
        let hints = colors.chain(Rank::ALL[..RANKS].iter().map(|&rank| Hint::Rank(rank)));
        for seat in board.seats_in_turn().skip(1) {
            prior.plays = looking.common_plays(board, seat, When::Now);
            for hint in hints.clone() {
                let touched = board.touched(seat, hint);
                if touched != SlotSet(0) {
                    let deed = Deed::Hint { seat, hint, touched };
                    let hinted = Hinted::new(board, seat, hint, touched);
                    best.offer(deed, looking.attempt_hint(board, deed, &hinted, &prior));
                }
            }
        }
    }

    /// The mean value of a deed with the own card in this slot, over what it can be.
    fn average(
        &mut self,
        board: &Board,
        deed: Deed,
        slot: usize,
        cards: CardSet,
        weight: impl Fn(usize) -> f64,
    ) -> Option<f64> {
        let id = board.hands[board.observer].id(slot);
        let mut mean = Mean::default();
        for card in cards.iter() {
            mean.add(self.attempt(board, deed, id, CardSet::of(card)), weight(card));
        }
        mean.value()
    }

    /// The value of a deed with an own card, if it is this; nothing if it cannot be.
    fn attempt(&mut self, board: &Board, deed: Deed, id: usize, card: CardSet) -> Option<f64> {
        let mut after = *board;
        after.show(id, card);
        after.apply(deed);
        let mut memory = *self.memory;
        let mut mind = self.with(&mut memory);
        mind.react(deed, board, &after);
        if mind.settle(board, &after) { mind.expect_reply(&after) } else { None }
    }

    /// The value of a hint.
    fn attempt_hint(
        &mut self,
        board: &Board,
        deed: Deed,
        hinted: &Hinted,
        prior: &Prior,
    ) -> Option<f64> {
        let mut after = *board;
        after.apply(deed);
        let mut memory = *self.memory;
        let mut mind = self.with(&mut memory);
        mind.on_hint(&after, hinted, prior);
        if mind.settle(board, &after) { mind.expect_reply(&after) } else { None }
    }

    /// The mean value of what the next player may do.
    fn expect_reply(&mut self, board: &Board) -> Option<f64> {
        let (replies, count) = self.likely_replies(board);
        let mut mean = Mean::default();
        for &(reply, weight) in &replies[..count] {
            let mut after = *board;
            after.apply(reply);
            let mut memory = *self.memory;
            let mut mind = self.with(&mut memory);
            mind.react(reply, board, &after);
            if mind.settle(board, &after) {
                mean.add(Some(mind.value(&after)), weight);
            }
        }
        mean.value()
    }

    /// The same mind with another memory, which it may fill with thoughts.
    fn with<'b>(&'b mut self, memory: &'b mut Memory) -> Mind<'b> {
        Mind { memory, past: self.past, archive: self.archive }
    }

    /// What the next player will do, with weights: roughly, and as far as the observer can tell.
    fn likely_replies(&self, board: &Board) -> ([(Deed, f64); HAND_SIZE], usize) {
        let hand = &board.hands[board.current];
        let possible = self.hand_seen_from(board, board.current);
        let plays = self.expected_plays(board, hand, &possible, When::Now);
        let mut replies = [(Deed::SomeHint, 1.0); HAND_SIZE];
        if plays != SlotSet(0) {
            if self.is_stalling(board, plays) {
                return (replies, 1);
            }
            for (reply, slot) in replies.iter_mut().zip(newest_first(plays)) {
                reply.0 = Deed::Play { slot };
            }
            return (replies, plays.0.count_ones() as usize);
        }
        if board.tokens >= MAX_TOKENS {
            return (replies, 1);
        }
        let (slot, discard) = self.likely_discard(board, hand, &possible);
        let is_fatal = board.discarded >= board.max_discards || discard <= Discard::Risky;
        match (is_fatal, board.tokens > 0) {
            (true, true) => (replies, 1),
            (true, false) => {
                replies[0].0 = Deed::Play { slot: self.desperate_play(board) };
                (replies, 1)
            }
            (false, false) => {
                replies[0].0 = Deed::Discard { slot };
                (replies, 1)
            }
            (false, true) => {
                replies[0] = (Deed::Discard { slot }, 0.80);
                replies[1] = (Deed::SomeHint, 0.20);
                (replies, 2)
            }
        }
    }

    /// Whether the next player, with no discard to spare and a deck of dead cards, will hint
    /// rather than draw.
    fn is_stalling(&self, board: &Board, plays: SlotSet) -> bool {
        board.discarded == board.max_discards
            && board.tokens > 0
            && plays.0.count_ones() <= 1
            && board.deck > 0
            && self.common_sight(board).unseen().some().is_subset(board.prospects.dead)
    }

    /// The newest card of the next player that could be playable.
    fn desperate_play(&self, board: &Board) -> usize {
        let hand = &board.hands[board.current];
        let possible = self.common_sight(board).of_hand(hand);
        let newest = hand.size().saturating_sub(1);
        let mut slots = (0..hand.size()).rev();
        slots.find(|&slot| possible[slot].meets(board.prospects.playable)).unwrap_or(newest)
    }
}

/// The slots of a set, the newest first.
fn newest_first(slots: SlotSet) -> impl Iterator<Item = usize> {
    (0..HAND_SIZE).rev().filter(move |&slot| slots.contains(slot))
}
