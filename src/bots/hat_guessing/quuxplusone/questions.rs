//! The questions about a hand that a seat's part of a message answers.

use crate::bots::common::base_game;
use crate::bots::hat_guessing::hand_knowledge::{CardsLeft, HandKnowledge, is_certainly};
use crate::bots::hat_guessing::public_knowledge::Questions;
use crate::rules::CardSet;

/// A question about the card in one slot: to which group does it belong? Some kinds are dealt to
/// the first groups in turn; all others form the last group.
#[derive(Clone, Copy, Debug)]
struct SlotQuestion {
    slot: usize,
    /// Number of groups of dealt kinds.
    groups: u8,
    /// Number of answers: one more than groups if there are other kinds.
    answers: u8,
    /// The dealt kinds.
    dealt: CardSet,
}

impl SlotQuestion {
    const NONE: SlotQuestion =
        SlotQuestion { slot: 0, groups: 1, answers: 1, dealt: CardSet::EMPTY };

    /// Is the card playable? The answer is 1 if it is, otherwise 0.
    fn playable(slot: usize, left: &CardsLeft) -> SlotQuestion {
        let dealt = base_game::ALL - left.outlook.playable;
        SlotQuestion { slot, groups: 1, answers: 2, dealt }
    }

    /// Which kind is the card, as far as this number of answers can tell? Dead kinds are one group.
    /// At least one kind must not be dead.
    fn kind(slot: usize, kinds: CardSet, answers: u32, left: &CardsLeft) -> SlotQuestion {
        let dealt = kinds - left.outlook.dead;
        let others = u32::from(kinds.intersects(left.outlook.dead));
        let groups = (dealt.len() as u32).min(answers - others);
        SlotQuestion { slot, groups: groups as u8, answers: (groups + others) as u8, dealt }
    }

    /// The answer for a card, given as a set of one kind, or of none if the slot is empty.
    fn answer(&self, card: CardSet) -> u32 {
        if !card.intersects(self.dealt) {
            u32::from(self.groups.min(self.answers - 1))
        } else if self.groups == 1 {
            0
        } else {
            let below = CardSet(self.dealt.0 & (card.0 - 1));
            below.len() as u32 % u32::from(self.groups)
        }
    }

    /// Restricts the slot to the kinds that are consistent with the answer.
    fn note(&self, hand: &mut HandKnowledge, answer: u32) {
        let Some(kinds) = hand.cards_mut().get_mut(self.slot) else { return };
        if answer == u32::from(self.groups) {
            *kinds -= self.dealt;
        } else if self.groups == 1 {
            *kinds &= self.dealt;
        } else {
            *kinds &= every(self.dealt, answer, self.groups);
        }
    }
}

/// The kinds whose ordinal in the set, counted from 0, has this remainder.
fn every(kinds: CardSet, remainder: u32, divisor: u8) -> CardSet {
    let mut rest = kinds.0;
    let mut chosen = 0;
    let mut wait = remainder;
    while rest != 0 {
        let lowest = rest & rest.wrapping_neg();
        rest ^= lowest;
        if wait == 0 {
            chosen |= lowest;
            wait = divisor.into();
        }
        wait -= 1;
    }
    CardSet(chosen)
}

/// The slots whose kind is neither known nor certainly dead.
struct Candidates {
    kinds: [CardSet; 5],
    /// The slots' [`rating`]s in descending order.
    ratings: [u32; 5],
    len: usize,
    /// Number of slots that are playable with a probability of at least 1/5; 0 if any slot of the
    /// hand is known to be playable.
    plays: usize,
}

/// Fixed-point reciprocals.
const RECIPROCAL: [u64; 64] = {
    let mut reciprocals = [0; 64];
    let mut copies = 1;
    while copies < reciprocals.len() {
        reciprocals[copies] = (1 << 32) / copies as u64 + 1;
        copies += 1;
    }
    reciprocals
};

/// A sort key: higher for slots that are more likely playable, on ties higher for older slots.
fn rating(slot: usize, playable: u32, total: u32) -> u32 {
    // The rounding error is less than the difference between any two fractions of up to 50 copies.
    let probability = ((u64::from(playable) << 14) * RECIPROCAL[total as usize % 64]) >> 32;
    (probability as u32) << 3 | (7 - slot as u32)
}

impl Candidates {
    #[inline]
    fn of(hand: &HandKnowledge, left: &CardsLeft) -> Candidates {
        let mut candidates = Candidates { kinds: hand.slots, ratings: [0; 5], len: 0, plays: 0 };
        let mut is_play_known = false;
        for (slot, &kinds) in hand.cards().iter().enumerate() {
            is_play_known |= is_certainly(kinds, left.outlook.playable);
            if kinds.is_empty()
                || kinds.single().is_some()
                || is_certainly(kinds, left.outlook.dead)
            {
                continue;
            }
            let playable = left.copies.total(kinds & left.outlook.playable);
            let total = left.copies.total(kinds);
            candidates.plays += usize::from(playable * 5 >= total);
            candidates.insert(rating(slot, playable, total));
        }
        if is_play_known {
            candidates.plays = 0;
        }
        candidates
    }

    fn insert(&mut self, rating: u32) {
        let mut new = rating;
        for place in &mut self.ratings[..=self.len] {
            (*place, new) = (new.max(*place), new.min(*place));
        }
        self.len += 1;
    }

    fn slot(&self, place: usize) -> usize {
        7 - (self.ratings[place] & 7) as usize
    }

    /// Calls `put` with the questions that a number below `modulus` can answer: first whether the
    /// likeliest cards are playable, unless one is known to be, then what kinds they are.
    #[inline]
    fn ask(&self, modulus: u32, left: &CardsLeft, mut put: impl FnMut(SlotQuestion)) {
        let mut rest = modulus;
        for number in 0..self.plays + self.len {
            let question = if number < self.plays {
                SlotQuestion::playable(self.slot(number), left)
            } else {
                let slot = self.slot(number - self.plays);
                SlotQuestion::kind(slot, self.kinds[slot], rest, left)
            };
            put(question);
            rest /= u32::from(question.answers);
            if rest <= 1 {
                return;
            }
        }
    }
}

/// The questions of `InfoBot`.
pub(super) struct SlotQuestions;

impl Questions for SlotQuestions {
    fn note_cards(
        hand: &mut HandKnowledge,
        left: &CardsLeft,
        modulus: usize,
        cards: &[u8],
    ) -> usize {
        let mut number = 0;
        Candidates::of(hand, left).ask(modulus as u32, left, |question| {
            let answer = question.answer(card_of(cards, question.slot));
            question.note(hand, answer);
            number = number * u32::from(question.answers) + answer;
        });
        number as usize
    }

    /// A number out of range has no effect.
    fn note_number(hand: &mut HandKnowledge, left: &CardsLeft, modulus: usize, number: usize) {
        // Each question at least halves the modulus, which is below 64.
        let mut list = [SlotQuestion::NONE; 6];
        let (mut len, mut product) = (0, 1);
        Candidates::of(hand, left).ask(modulus as u32, left, |question| {
            if let Some(place) = list.get_mut(len) {
                *place = question;
                product *= u32::from(question.answers);
                len += 1;
            }
        });
        let mut rest = number as u32;
        if rest >= product {
            return;
        }
        for question in &list[..len] {
            product /= u32::from(question.answers);
            question.note(hand, rest / product);
            rest %= product;
        }
    }
}

fn card_of(cards: &[u8], slot: usize) -> CardSet {
    cards.get(slot).map_or(CardSet::EMPTY, |&kind| CardSet::of(kind.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratings_are_ordered_by_probability_then_age() {
        let all = || (2..=50).flat_map(|total| (0..=total).map(move |playable| (playable, total)));
        for (playable, total) in all() {
            for (other_playable, other_total) in all() {
                let older = rating(1, playable, total) > rating(2, other_playable, other_total);
                assert_eq!(older, playable * other_total >= other_playable * total);
            }
        }
    }
}
