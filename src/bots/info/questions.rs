//! The questions about a hand that a number answers.

use super::board::Board;
use super::copies::Copies;
use super::hand::Hand;

/// A question about the card in one slot: to which group it belongs. Some kinds are dealt to the
/// first groups in turn; all others are the last group.
#[derive(Clone, Copy, Debug)]
struct Question {
    slot: u8,
    /// How many groups the dealt kinds make.
    groups: u8,
    /// How many answers there are: one more when there are others.
    answers: u8,
    /// All copies of the dealt kinds.
    dealt: Copies,
}

impl Question {
    const NONE: Question = Question { slot: 0, groups: 1, answers: 1, dealt: Copies::NONE };

    /// Whether the card is playable: 1 if it is.
    fn playable(slot: u8, board: &Board) -> Question {
        Question { slot, groups: 1, answers: 2, dealt: Copies::ALL - board.playable }
    }

    /// What the card is, as far as so many answers can tell; the dead are one group. Not all
    /// copies are dead.
    fn kind(slot: u8, copies: Copies, answers: u32, board: &Board) -> Question {
        let dealt = copies - board.dead;
        let others = u32::from(copies.meets(board.dead));
        let groups = dealt.kinds().len().min(answers - others);
        Question { slot, groups: groups as u8, answers: (groups + others) as u8, dealt }
    }

    /// The answer if all copies of the card are these.
    fn answer(&self, card: Copies) -> u32 {
        if !card.meets(self.dealt) {
            u32::from(self.groups.min(self.answers - 1))
        } else if self.groups == 1 {
            0
        } else {
            self.dealt.kinds().below(card).len() % u32::from(self.groups)
        }
    }

    /// What is left of the copies that may be in the slot.
    fn note(&self, hand: &mut Hand, answer: u32) {
        let Some(copies) = hand.slots_mut().get_mut(usize::from(self.slot)) else { return };
        if answer == u32::from(self.groups) {
            *copies -= self.dealt;
        } else if self.groups == 1 {
            *copies &= self.dealt;
        } else {
            *copies &= every(self.dealt.kinds(), answer, self.groups).whole();
        }
    }
}

/// The kinds of which the number, counted from 0, has this remainder.
fn every(kinds: Copies, remainder: u32, divisor: u8) -> Copies {
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
    Copies(chosen)
}

/// A slot that is worth a question.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    copies: Copies,
    slot: u8,
    /// How many of the copies are playable.
    playable: u32,
    /// How many copies there are; not counted when none is playable.
    total: u32,
}

impl Candidate {
    const NONE: Candidate = Candidate { copies: Copies::NONE, slot: 0, playable: 0, total: 1 };

    fn is_likelier(&self, other: &Candidate) -> bool {
        self.playable * other.total > other.playable * self.total
    }
}

/// The slots that hold neither a known card nor a dead one: first those that are most likely
/// playable, then the oldest.
struct Candidates {
    list: [Candidate; 5],
    len: usize,
    /// Whether any slot of the hand is known to be playable.
    is_play_known: bool,
}

impl Candidates {
    fn of(hand: &Hand, board: &Board) -> Candidates {
        let mut candidates =
            Candidates { list: [Candidate::NONE; 5], len: 0, is_play_known: false };
        for (slot, &copies) in hand.slots().iter().enumerate() {
            let playable = copies & board.playable;
            candidates.is_play_known |= playable == copies && !copies.is_empty();
            if copies.is_empty() || copies.is_one_kind() || copies.is_certainly(board.dead) {
                continue;
            }
            let mut candidate = Candidate { copies, slot: slot as u8, playable: 0, total: 1 };
            if !playable.is_empty() {
                (candidate.playable, candidate.total) = (playable.len(), copies.len());
            }
            candidates.insert(candidate);
        }
        candidates
    }

    fn insert(&mut self, candidate: Candidate) {
        let mut place = self.len;
        while place > 0 && candidate.is_likelier(&self.list[place - 1]) {
            self.list[place] = self.list[place - 1];
            place -= 1;
        }
        self.list[place] = candidate;
        self.len += 1;
    }

    fn list(&self) -> &[Candidate] {
        &self.list[..self.len]
    }
}

/// Asks the questions that a number below `modulus` answers: first whether the likeliest cards are
/// playable, unless one is known to be, then what they are. Everybody can tell from what
/// everybody knows.
#[inline]
fn ask(hand: &Hand, modulus: u32, board: &Board, mut put: impl FnMut(Question)) {
    let candidates = Candidates::of(hand, board);
    let mut rest = modulus;
    if !candidates.is_play_known {
        for candidate in candidates.list() {
            if candidate.playable * 5 < candidate.total {
                break;
            }
            put(Question::playable(candidate.slot, board));
            rest /= 2;
            if rest <= 1 {
                return;
            }
        }
    }
    for candidate in candidates.list() {
        let question = Question::kind(candidate.slot, candidate.copies, rest, board);
        put(question);
        rest /= u32::from(question.answers);
        if rest <= 1 {
            return;
        }
    }
}

/// What everybody knows once all have seen the answers of a hand of these card indices, which are
/// this number.
pub(super) fn note_cards(hand: &mut Hand, cards: &[u8], modulus: u32, board: &Board) -> u32 {
    let mut number = 0;
    let mut noted = *hand;
    ask(hand, modulus, board, |question| {
        let answer = question.answer(card_of(cards, question.slot));
        question.note(&mut noted, answer);
        number = number * u32::from(question.answers) + answer;
    });
    *hand = noted;
    number
}

/// What is known once the answers are this number; nothing new when no answers are.
pub(super) fn note_number(hand: &mut Hand, number: u32, modulus: u32, board: &Board) {
    // Each question at least halves the modulus, which is below 64.
    let mut list = [Question::NONE; 6];
    let (mut len, mut product) = (0, 1);
    ask(hand, modulus, board, |question| {
        if let Some(place) = list.get_mut(len) {
            *place = question;
            product *= u32::from(question.answers);
            len += 1;
        }
    });
    let mut rest = number;
    if rest >= product {
        return;
    }
    for question in &list[..len] {
        product /= u32::from(question.answers);
        question.note(hand, rest / product);
        rest %= product;
    }
}

fn card_of(cards: &[u8], slot: u8) -> Copies {
    cards.get(usize::from(slot)).map_or(Copies::NONE, |&index| Copies::of_kind(index.into()))
}
