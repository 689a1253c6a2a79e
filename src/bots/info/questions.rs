//! The questions about a hand that a number answers.

use super::board::Board;
use super::copies::Copies;
use super::hand::Hand;

/// A question about the card in one slot.
#[derive(Clone, Copy, Debug)]
enum Topic {
    /// Whether it is playable.
    Playable,
    /// To which of some groups it belongs: its kinds are dealt to so many groups in turn, but the
    /// dead ones are a group of their own, the last.
    Group { live: Copies, groups: u32 },
}

#[derive(Clone, Copy, Debug)]
struct Question {
    slot: usize,
    topic: Topic,
    /// How many answers it has.
    answers: u32,
}

impl Question {
    fn playable(slot: usize) -> Question {
        Question { slot, topic: Topic::Playable, answers: 2 }
    }

    /// Asks for as much as so many answers can tell. Not all copies are dead.
    fn group(slot: usize, copies: Copies, answers: u32, board: &Board) -> Question {
        let live = (copies - board.dead).kinds();
        let has_dead = copies.meets(board.dead);
        let groups = live.len().min(answers - u32::from(has_dead));
        let topic = Topic::Group { live, groups };
        Question { slot, topic, answers: groups + u32::from(has_dead) }
    }

    /// The answer if all copies of the card are these.
    fn answer(&self, card: Copies, board: &Board) -> u32 {
        match self.topic {
            Topic::Playable => u32::from(card.meets(board.playable)),
            Topic::Group { groups, .. } if card.meets(board.dead) => groups,
            Topic::Group { live, groups } => live.below(card).len() % groups,
        }
    }

    /// All copies for which this is the answer.
    fn answered(&self, answer: u32, board: &Board) -> Copies {
        match self.topic {
            Topic::Playable if answer == 1 => board.playable,
            Topic::Playable => Copies::ALL - board.playable,
            Topic::Group { groups, .. } if answer == groups => board.dead,
            Topic::Group { live, groups } => every(live, answer, groups).whole(),
        }
    }
}

/// The kinds of which the number, counted from 0, has this remainder.
fn every(kinds: Copies, remainder: u32, divisor: u32) -> Copies {
    let mut rest = kinds.0;
    let mut chosen = 0;
    let mut wait = remainder;
    while rest != 0 {
        let lowest = rest & rest.wrapping_neg();
        rest ^= lowest;
        if wait == 0 {
            chosen |= lowest;
            wait = divisor;
        }
        wait -= 1;
    }
    Copies(chosen)
}

/// A slot that is worth a question.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    slot: usize,
    copies: Copies,
    playable: u32,
    total: u32,
}

impl Candidate {
    fn is_likelier(&self, other: &Candidate) -> bool {
        self.playable * other.total > other.playable * self.total
    }
}

/// Most questions about a hand: two about each slot.
const MOST: usize = 10;

/// What is asked about a hand. Everybody can tell from what everybody knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Questions {
    list: [Question; MOST],
    len: usize,
}

impl Questions {
    /// The questions that a number below `modulus` answers: first whether the likeliest cards are
    /// playable, unless one is known to be, then what they are.
    pub fn of(hand: &Hand, modulus: u32, board: &Board) -> Questions {
        let mut questions = Questions { list: [Question::playable(0); MOST], len: 0 };
        let mut candidates =
            [Candidate { slot: 0, copies: Copies::NONE, playable: 0, total: 1 }; 5];
        let len = find_candidates(hand, board, &mut candidates);
        let candidates = &candidates[..len];
        let mut rest = modulus;
        if !hand.slots().iter().any(|copies| copies.is_certainly(board.playable)) {
            for candidate in candidates {
                if candidate.playable * 5 < candidate.total {
                    break;
                }
                if questions.add(Question::playable(candidate.slot), &mut rest) {
                    return questions;
                }
            }
        }
        for candidate in candidates {
            let question = Question::group(candidate.slot, candidate.copies, rest, board);
            if questions.add(question, &mut rest) {
                break;
            }
        }
        questions
    }

    /// Whether that was the last one.
    fn add(&mut self, question: Question, rest: &mut u32) -> bool {
        *rest /= question.answers;
        self.list[self.len] = question;
        self.len += 1;
        *rest <= 1
    }

    fn list(&self) -> &[Question] {
        &self.list[..self.len]
    }

    /// The answers of a hand of these card indices as one number.
    pub fn answer(&self, cards: &[u8], board: &Board) -> u32 {
        self.list().iter().fold(0, |number, question| {
            number * question.answers + question.answer(card_of(cards, question.slot), board)
        })
    }

    /// What everybody knows once all have seen the answers of a hand of these card indices.
    pub fn note_cards(&self, hand: &mut Hand, cards: &[u8], board: &Board) {
        for question in self.list() {
            let answer = question.answer(card_of(cards, question.slot), board);
            hand.slots_mut()[question.slot] &= question.answered(answer, board);
        }
    }

    /// What is known once the answers are this number; nothing new when no answers are.
    pub fn note_number(&self, hand: &mut Hand, number: u32, board: &Board) {
        let mut product = self.list().iter().map(|question| question.answers).product::<u32>();
        let mut rest = number;
        if rest >= product {
            return;
        }
        for question in self.list() {
            product /= question.answers;
            hand.slots_mut()[question.slot] &= question.answered(rest / product, board);
            rest %= product;
        }
    }
}

fn card_of(cards: &[u8], slot: usize) -> Copies {
    cards.get(slot).map_or(Copies::NONE, |&index| Copies::of_kind(index.into()))
}

/// The slots of which it is not known what they hold or that it is dead, those first that are
/// playable most likely, then the oldest. Their number.
fn find_candidates(hand: &Hand, board: &Board, candidates: &mut [Candidate; 5]) -> usize {
    let mut len = 0;
    for (slot, &copies) in hand.slots().iter().enumerate() {
        if copies.is_empty() || copies.is_one_kind() || copies.is_certainly(board.dead) {
            continue;
        }
        let playable = (copies & board.playable).len();
        let candidate = Candidate { slot, copies, playable, total: copies.len() };
        let mut place = len;
        while place > 0 && candidate.is_likelier(&candidates[place - 1]) {
            candidates[place] = candidates[place - 1];
            place -= 1;
        }
        candidates[place] = candidate;
        len += 1;
    }
    len
}
