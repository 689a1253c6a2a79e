//! What to play, discard or hint.

use super::board::Board;
use super::code::HintCode;
use super::copies::Copies;
use super::hand::Hand;
use super::questions;
use super::{Info, note_others};
use crate::rules::{Hint, MAX_PLAYERS, Move, SlotSet, Suit, View};

/// What the hands of the others show.
struct Sight {
    /// All copies of each kind in them.
    seen: Copies,
    /// The copies that are neither in them nor on the table.
    unseen: Copies,
}

impl Sight {
    fn of(view: &View<'_>, board: &Board) -> Sight {
        let mut sight = Sight { seen: Copies::NONE, unseen: board.left };
        for offset in 1..view.variant().players().into() {
            for &index in view.hand_indices(offset) {
                let kind = Copies::of_kind(index.into());
                sight.seen |= kind;
                sight.unseen = sight.unseen.without_one(kind);
            }
        }
        sight
    }
}

impl Info {
    /// The move that the conventions want.
    pub(super) fn choose(&mut self, view: &View<'_>) -> Move {
        let sight = Sight::of(view, &self.board);
        let hand = self.own_hand(view, &sight);
        if let Some(slot) = self.sure_play(view, &hand) {
            return Move::Play { slot: slot as u8 };
        }
        let is_early = view.discards().count_ones() as usize <= self.early_discards();
        if is_early
            && view.life_tokens() > 1
            && let Some(slot) = self.risky_play(&hand)
        {
            return Move::Play { slot: slot as u8 };
        }
        if view.information_tokens() == view.variant().max_information_tokens() {
            return self.hint(view);
        }
        let is_hint_due = view.information_tokens() > 0 && sight.seen.meets(self.board.playable);
        // Late in the game a hint is better than a useless card, because the deck lasts longer.
        if is_hint_due && !is_early {
            return self.hint(view);
        }
        if let Some(slot) = self.useless_slot(view, &hand) {
            return Move::Discard { slot: slot as u8 };
        }
        if is_hint_due {
            return self.hint(view);
        }
        Move::Discard { slot: self.cheapest_slot(&hand, sight.seen) as u8 }
    }

    /// What the seat itself knows of its hand.
    fn own_hand(&self, view: &View<'_>, sight: &Sight) -> Hand {
        let mut hand = self.hands[0];
        for (slot, copies) in hand.slots_mut().iter_mut().enumerate() {
            *copies &= sight.unseen;
            if copies.is_empty() {
                // Somebody did not keep to the conventions: hints are all that is left.
                let plausible = view.knowledge(0, slot).plausible_set(view.variant());
                *copies = Copies::of_kinds(plausible) & sight.unseen;
            }
        }
        hand
    }

    /// As long as no more are discarded, the deck lasts for all plays that are needed.
    fn early_discards(&self) -> usize {
        25 - self.players * self.hand_size
    }

    /// The slot that is surely playable and most worth it: low cards that nobody else holds.
    fn sure_play(&self, view: &View<'_>, hand: &Hand) -> Option<usize> {
        let score = |&copies: &Copies| {
            copies.is_certainly(self.board.playable).then(|| self.play_score(view, copies))
        };
        best(hand.slots().iter().map(score))
    }

    fn play_score(&self, view: &View<'_>, copies: Copies) -> f64 {
        let mut score = 0.0;
        for index in copies.kinds().indices() {
            let weight = f64::from((copies & Copies::of_kind(index)).len());
            let has_it = |offset: &usize| view.hand_indices(*offset).contains(&(index as u8));
            let holders =
                if view.deck_size() > 0 { (1..self.players).filter(has_it).count() } else { 0 };
            score += weight * ((9.0 - (index % 5) as f64) / (holders + 1) as f64);
        }
        score / f64::from(copies.len())
    }

    /// The slot that is most likely playable, by more than three to one, and dead otherwise.
    fn risky_play(&self, hand: &Hand) -> Option<usize> {
        let harmless = self.board.playable | self.board.dead;
        let score = |&copies: &Copies| {
            let chance = share(copies, self.board.playable);
            (copies.is_certainly(harmless) && chance > 0.75).then_some(chance)
        };
        best(hand.slots().iter().map(score))
    }

    /// A useless slot. When everybody knows of several, the choice says a number.
    fn useless_slot(&self, view: &View<'_>, hand: &Hand) -> Option<usize> {
        let public = self.hands[0].useless(&self.board);
        let modulus = public.len() as u32;
        if modulus > 1 {
            let mut hands = self.hands;
            let number =
                note_others(&mut hands[..self.players], 0, modulus, view, &self.board) as usize;
            return public.iter().nth(number);
        }
        hand.useless(&self.board).iter().next()
    }

    /// The slot whose loss is likely to hurt least: others hold the card, or there is another
    /// copy, or its rank is high.
    fn cheapest_slot(&self, hand: &Hand, seen: Copies) -> usize {
        let critical = self.board.critical();
        let score = |&copies: &Copies| {
            let dispensable = share(copies, Copies::ALL - critical);
            let score = 20.0 * share(copies, seen) + 10.0 * dispensable + average_rank(copies);
            (!copies.is_empty()).then_some(score)
        };
        best(hand.slots().iter().map(score)).unwrap_or(0)
    }

    /// The hint that says the sum of the others' answers and, of those, tells the most openly.
    fn hint(&mut self, view: &View<'_>) -> Move {
        let mut counts = [0; MAX_PLAYERS];
        for (count, hand) in counts.iter_mut().zip(&self.hands[..self.players]).skip(1) {
            *count = HintCode::count(hand);
        }
        let modulus = counts.iter().sum();
        let mut hands = self.hands;
        let mut number = note_others(&mut hands[..self.players], 0, modulus, view, &self.board);
        self.spoken = Some(hands);
        let mut offset = 1;
        while offset + 1 < self.players && number >= counts[offset] {
            number -= counts[offset];
            offset += 1;
        }
        // The value of hints is judged as if each seat's could stand for three numbers.
        let usual = 3 * (self.players as u32 - 1);
        let mut hand = hands[offset];
        if modulus != usual {
            hand = self.hands[offset];
            questions::note_cards(&mut hand, view.hand_indices(offset), usual, &self.board);
        }
        let hint = self.best_hint(view, offset, number, &hand);
        Move::Hint { offset: offset as u8, hint }
    }

    /// The hint to this seat that stands for the number and leaves the least open.
    fn best_hint(&self, view: &View<'_>, offset: usize, number: u32, hand: &Hand) -> Hint {
        let (code, _) = HintCode::of(&self.hands[offset], &self.board);
        let hints =
            view.hand(offset).flat_map(|card| [Hint::Color(card.suit), Hint::Rank(card.rank)]);
        let mut chosen = Hint::Color(Suit::ALL[0]);
        let mut most = -1.0;
        for hint in hints {
            let touched = touched_by(hint, view, offset);
            if code.number(hint, touched) == number {
                let gain = self.gain(hand, hint, touched);
                if gain > most {
                    (chosen, most) = (hint, gain);
                }
            }
        }
        chosen
    }

    /// How much a hint narrows a hand down, and twice that for each card that becomes known.
    fn gain(&self, hand: &Hand, hint: Hint, touched: SlotSet) -> f64 {
        let mut told = *hand;
        told.tell(hint, touched);
        let mut gain = 1.0;
        for (&before, &after) in hand.slots().iter().zip(told.slots()) {
            if before.is_certainly(self.board.dead) || before.is_one_kind() {
                continue;
            }
            let settled = after.is_one_kind() || after.is_certainly(self.board.dead);
            let bonus = if settled { 2.0 } else { 1.0 };
            gain *= bonus * f64::from(before.len()) / f64::from(after.len());
        }
        gain
    }
}

fn touched_by(hint: Hint, view: &View<'_>, offset: usize) -> SlotSet {
    view.hand(offset)
        .enumerate()
        .fold(SlotSet(0), |set, (slot, card)| SlotSet(set.0 | u8::from(hint.matches(card)) << slot))
}

/// The first of the highest scores.
fn best(scores: impl Iterator<Item = Option<f64>>) -> Option<usize> {
    let mut best = None;
    let mut highest = -1.0;
    for (slot, score) in scores.enumerate() {
        if let Some(score) = score.filter(|&score| score > highest) {
            (best, highest) = (Some(slot), score);
        }
    }
    best
}

/// The part of the copies that is in a set.
fn share(copies: Copies, set: Copies) -> f64 {
    f64::from((copies & set).len()) / f64::from(copies.len())
}

/// The mean rank of copies, from 1.
fn average_rank(copies: Copies) -> f64 {
    let sum: u32 = copies.indices().map(|index| index as u32 % 5 + 1).sum();
    f64::from(sum) / f64::from(copies.len())
}
