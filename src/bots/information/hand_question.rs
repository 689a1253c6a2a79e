//! The questions about a hand, and the number that their answers make.

use super::hand_knowledge::{CardsLeft, HandKnowledge};
use super::slot_probabilities::SlotProbabilities;
use crate::bots::common::base_game::HAND_SIZE;
use crate::rules::CardSet;

/// The most parts of a question: a move sends one of at most 16 messages.
const MAX_PARTS: usize = 15;

/// Applies the true answers about a visible hand. Returns their number below `modulus`: the answers
/// make a mixed-radix number, in which the first question has the lowest weight.
pub(super) fn note_cards(
    hand: &mut HandKnowledge,
    left: &CardsLeft,
    mut modulus: usize,
    cards: &[u8],
) -> usize {
    let (mut number, mut weight) = (0, 1);
    let mut question = HandQuestion::new();
    while question.advance(hand, left, modulus) {
        let answer = question.answer(cards);
        question.apply(answer, hand);
        number += weight * answer;
        weight *= question.answers();
        modulus = (modulus - answer - 1) / question.answers() + 1;
    }
    number
}

/// Applies the answers that make this number.
pub(super) fn note_number(
    hand: &mut HandKnowledge,
    left: &CardsLeft,
    mut modulus: usize,
    mut number: usize,
) {
    let mut question = HandQuestion::new();
    while question.advance(hand, left, modulus) {
        let answer = number % question.answers();
        question.apply(answer, hand);
        number /= question.answers();
        modulus = (modulus - answer - 1) / question.answers() + 1;
    }
}

/// A question in parts. Each part asks whether the card in a slot is of one of some kinds. The answer
/// is the number of the first part that is true, counted from 1, or 0 if there is none.
#[derive(Clone, Copy, Debug)]
struct HandQuestion {
    parts: [(usize, CardSet); MAX_PARTS],
    size: usize,
}

impl HandQuestion {
    const fn new() -> HandQuestion {
        HandQuestion { parts: [(0, CardSet::EMPTY); MAX_PARTS], size: 0 }
    }

    /// Replaces the question by the most useful one about this hand, with at most this number of
    /// answers. Returns false if there is none.
    fn advance(&mut self, hand: &HandKnowledge, left: &CardsLeft, answers: usize) -> bool {
        self.size = 0;
        if answers < 2 {
            return false;
        }
        let chances = SlotChances::of(hand, left);
        if !chances.knows_playable {
            self.ask_all(chances.playable, left.outlook.playable, answers);
            if !chances.knows_dead {
                self.ask_all(chances.dead, left.outlook.dead, answers);
            }
        }
        if self.size == 0 {
            if let Some(slot) = chances.probably_playable() {
                self.ask(slot, left.outlook.playable);
            } else if let Some(slot) = chances.least_dead() {
                self.ask_kind(slot, hand.slots[slot], left, answers);
            }
        }
        self.size > 0
    }

    fn ask(&mut self, slot: usize, cards: CardSet) {
        self.parts[self.size] = (slot, cards);
        self.size += 1;
    }

    /// Asks whether these slots hold a card of the given kinds. Without room for all, the most likely
    /// slots are asked. The least likely come first, since the answer also denies all earlier
    /// parts.
    fn ask_all(&mut self, mut likely: SlotProbabilities, cards: CardSet, answers: usize) {
        likely.keep_highest(answers - 1 - self.size);
        for (slot, _) in likely.iter() {
            self.ask(slot, cards);
        }
    }

    /// Asks which kind a card is: the kinds that are not dead are dealt in turn to the available
    /// answers. All dead kinds share the last answer.
    fn ask_kind(&mut self, slot: usize, card: CardSet, left: &CardsLeft, answers: usize) {
        let dead = card & left.outlook.dead;
        let alive = card - dead;
        let groups = alive.len().min(answers - usize::from(!dead.is_empty()));
        let mut kinds = [0; MAX_PARTS + 1];
        for (place, kind) in alive.iter().enumerate() {
            kinds[place % groups] |= 1 << kind;
        }
        for &group in &kinds[1..groups] {
            self.ask(slot, CardSet(group));
        }
        if !dead.is_empty() {
            self.ask(slot, left.outlook.dead);
        }
    }

    fn parts(&self) -> &[(usize, CardSet)] {
        &self.parts[..self.size]
    }

    /// Number of possible answers.
    fn answers(&self) -> usize {
        self.size + 1
    }

    /// The answer for a hand of these cards.
    fn answer(&self, cards: &[u8]) -> usize {
        let holds = |&(slot, among): &(usize, CardSet)| {
            cards.get(slot).is_some_and(|&card| among.contains(card.into()))
        };
        self.parts().iter().position(holds).map_or(0, |first| first + 1)
    }

    /// Restricts the hand to what is consistent with the answer.
    fn apply(&self, answer: usize, hand: &mut HandKnowledge) {
        let denied = if answer == 0 { self.size } else { answer - 1 };
        for &(slot, cards) in &self.parts[..denied] {
            hand.slots[slot] -= cards;
        }
        if let Some(&(slot, cards)) = self.parts().get(denied) {
            hand.slots[slot] &= cards;
        }
    }
}

/// The aspects of a hand on which the choice of a question depends.
#[derive(Default)]
struct SlotChances {
    knows_playable: bool,
    knows_dead: bool,
    /// The slots whose kind is neither known nor certainly dead.
    open: [bool; HAND_SIZE],
    /// The probability that an open slot is playable, where it is not 0.
    playable: SlotProbabilities,
    /// The probability that an open slot is dead, where it is not 0.
    dead: SlotProbabilities,
}

impl SlotChances {
    fn of(hand: &HandKnowledge, left: &CardsLeft) -> SlotChances {
        let CardsLeft { copies, outlook } = left;
        let mut chances = SlotChances::default();
        for (slot, &card) in hand.cards().iter().enumerate() {
            chances.knows_playable |= card.is_subset(outlook.playable);
            let is_dead = card.is_subset(outlook.dead);
            chances.knows_dead |= is_dead;
            chances.open[slot] = !is_dead && card.single().is_none();
            if chances.open[slot] {
                let sets = [card, card & outlook.playable, card & outlook.dead];
                let [all, playable, dead] = copies.totals(sets);
                chances.playable.add(slot, playable, all);
                chances.dead.add(slot, dead, all);
            }
        }
        chances
    }

    /// The open slot whose probability to be playable is nearest to 0.7, if within 0.2 of it.
    fn probably_playable(&self) -> Option<usize> {
        let distances =
            self.playable.iter().map(|(slot, probability)| ((probability - 0.7).abs(), slot));
        let near = distances.filter(|&(distance, _)| distance < 0.2);
        let nearest = near.min_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        nearest.map(|(_, slot)| slot)
    }

    /// The open slot that is least likely dead.
    fn least_dead(&self) -> Option<usize> {
        let may_be_dead = |slot| self.dead.iter().any(|(other, _)| other == slot);
        let never = (0..HAND_SIZE).find(|&slot| self.open[slot] && !may_be_dead(slot));
        never.or_else(|| self.dead.iter().next().map(|(slot, _)| slot))
    }
}
