//! The choice of a move.

use super::InfoBot;
use super::hint_code::HintCode;
use super::questions;
use crate::bots::base_game::rank_of;
use crate::bots::hat_guessing::copies::Copies;
use crate::bots::hat_guessing::hand_knowledge::HandKnowledge;
use crate::rules::{CardSet, Hint, MAX_PLAYERS, Move, SlotSet, Suit, View};

/// What the observer learns from the teammates' hands.
struct VisibleHands {
    /// All copies of each kind in them.
    seen: Copies,
    /// The copies in the deck and in the own hand.
    unseen: Copies,
}

impl VisibleHands {
    fn of(view: &View<'_>, left: Copies) -> VisibleHands {
        let (mut seen, mut unseen) = (CardSet::EMPTY, left);
        for offset in 1..view.variant().players().into() {
            for &kind in view.hand_indices(offset) {
                seen |= CardSet::of(kind.into());
                unseen.remove(kind.into());
            }
        }
        VisibleHands { seen: Copies::of(seen), unseen }
    }
}

impl InfoBot {
    /// The move by the conventions, which may be illegal beside partners that violate them.
    pub(super) fn choose(&mut self, view: &View<'_>) -> Move {
        let visible = VisibleHands::of(view, self.left);
        let hand = self.own_hand(view, &visible);
        if let Some(slot) = self.sure_play(view, &hand) {
            return Move::Play { slot: slot as u8 };
        }
        let is_early = view.discards().count_ones() as usize <= self.early_discards();
        if is_early
            && view.may_misplay()
            && let Some(slot) = self.risky_play(&hand)
        {
            return Move::Play { slot: slot as u8 };
        }
        if !view.may_discard() {
            return self.hint(view);
        }
        let is_hint_due = view.may_hint() && visible.seen.meets(self.outlook.playable);
        // Late in the game a hint is better than a useless discard, since the deck lasts longer.
        if is_hint_due && !is_early {
            return self.hint(view);
        }
        if let Some(slot) = self.useless_slot(view, &hand) {
            return Move::Discard { slot: slot as u8 };
        }
        if is_hint_due {
            return self.hint(view);
        }
        Move::Discard { slot: self.cheapest_slot(&hand, visible.seen) as u8 }
    }

    /// What the seat knows about its own hand from the common knowledge and the visible hands.
    fn own_hand(&self, view: &View<'_>, visible: &VisibleHands) -> HandKnowledge {
        let mut hand = self.hands[0];
        for (slot, copies) in hand.cards_mut().iter_mut().enumerate() {
            *copies &= visible.unseen;
            if copies.is_empty() {
                // A partner violated the conventions: fall back to the hints alone.
                let plausible = view.knowledge(0, slot).plausible_set(view.variant());
                *copies = Copies::of(plausible) & visible.unseen;
            }
        }
        hand
    }

    /// The number of discards up to which the deck lasts for all missing plays.
    fn early_discards(&self) -> usize {
        25 - self.players * self.hand_size
    }

    /// The best slot that is certainly playable: a low card that few teammates hold.
    fn sure_play(&self, view: &View<'_>, hand: &HandKnowledge) -> Option<usize> {
        let score = |&copies: &Copies| {
            copies.is_certainly(self.outlook.playable).then(|| self.play_score(view, copies))
        };
        best(hand.cards().iter().map(score))
    }

    fn play_score(&self, view: &View<'_>, copies: Copies) -> f64 {
        let mut score = 0.0;
        for kind in copies.kinds().iter() {
            let weight = f64::from((copies & Copies::of(CardSet::of(kind))).len());
            let holds = |offset: &usize| view.hand_indices(*offset).contains(&(kind as u8));
            let holders =
                if view.deck_size() > 0 { (1..self.players).filter(holds).count() } else { 0 };
            score += weight * ((9.0 - rank_of(kind) as f64) / (holders + 1) as f64);
        }
        score / f64::from(copies.len())
    }

    /// The slot that is most likely playable, with a probability above 3/4, and otherwise dead.
    fn risky_play(&self, hand: &HandKnowledge) -> Option<usize> {
        let harmless = self.outlook.playable | self.outlook.dead;
        let score = |&copies: &Copies| {
            let probability = fraction(copies, self.outlook.playable);
            (copies.is_certainly(harmless) && probability > 0.75).then_some(probability)
        };
        best(hand.cards().iter().map(score))
    }

    /// A useless slot. If several are commonly known, the choice among them sends a number.
    fn useless_slot(&self, view: &View<'_>, hand: &HandKnowledge) -> Option<usize> {
        let public = self.hands[0].useless(&self.outlook);
        let modulus = public.len() as u32;
        if modulus > 1 {
            let mut hands = self.hands;
            let number = questions::note_visible_hands(
                &mut hands[..self.players],
                0,
                modulus,
                view,
                &self.outlook,
            ) as usize;
            return public.iter().nth(number);
        }
        hand.useless(&self.outlook).iter().next()
    }

    /// The slot whose loss probably costs least: a teammate holds the same card, or it is not
    /// critical, or its rank is high.
    fn cheapest_slot(&self, hand: &HandKnowledge, seen: Copies) -> usize {
        let dispensable = Copies::ALL - self.outlook.critical;
        let score = |&copies: &Copies| {
            let average_rank = f64::from(copies.rank_sum()) / f64::from(copies.len());
            let score =
                20.0 * fraction(copies, seen) + 10.0 * fraction(copies, dispensable) + average_rank;
            (!copies.is_empty()).then_some(score)
        };
        best(hand.cards().iter().map(score)).unwrap_or(0)
    }

    /// The hint that sends the sum of the others' answers and, among those, reveals the most by
    /// itself.
    fn hint(&mut self, view: &View<'_>) -> Move {
        let mut counts = [0; MAX_PLAYERS];
        for (count, hand) in counts.iter_mut().zip(&self.hands[..self.players]).skip(1) {
            *count = HintCode::count(hand);
        }
        let modulus = counts.iter().sum();
        let mut hands = self.hands;
        let mut number = questions::note_visible_hands(
            &mut hands[..self.players],
            0,
            modulus,
            view,
            &self.outlook,
        );
        self.after_own_hint = Some(hands);
        let mut offset = 1;
        while offset + 1 < self.players && number >= counts[offset] {
            number -= counts[offset];
            offset += 1;
        }
        // InfoBot rates hints as if those to each seat encoded three numbers.
        let usual = 3 * (self.players as u32 - 1);
        let mut hand = hands[offset];
        if modulus != usual {
            hand = self.hands[offset];
            questions::note_cards(&mut hand, view.hand_indices(offset), usual, &self.outlook);
        }
        let hint = self.best_hint(view, offset, number, &hand);
        Move::Hint { offset: offset as u8, hint }
    }

    /// The hint to this seat that encodes the number and has the largest gain.
    fn best_hint(&self, view: &View<'_>, offset: usize, number: u32, hand: &HandKnowledge) -> Hint {
        let (code, _) = HintCode::of(&self.hands[offset], &self.outlook);
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

    /// The factor by which a hint narrows the hand down, doubled for each card that becomes known.
    fn gain(&self, hand: &HandKnowledge, hint: Hint, touched: SlotSet) -> f64 {
        let mut told = *hand;
        told.apply_hint(hint, touched);
        let mut gain = 1.0;
        for (&before, &after) in hand.cards().iter().zip(told.cards()) {
            if before.is_certainly(self.outlook.dead) || before.is_one_kind() {
                continue;
            }
            let settled = after.is_one_kind() || after.is_certainly(self.outlook.dead);
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

/// The index of the highest score; on ties the first.
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

/// The fraction of the copies that is in the set.
fn fraction(copies: Copies, set: Copies) -> f64 {
    f64::from((copies & set).len()) / f64::from(copies.len())
}
